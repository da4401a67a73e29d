// What both TypeScript clients do, in the same order as the Python ones.
const say = (step, what = {}) => console.log(JSON.stringify({ step, ...what }));

const told = result => ({
    error: Boolean(result.isError),
    text: result.content.filter(part => part.type === 'text').map(part => part.text).join(''),
    kinds: result.content.map(part => part.type),
});

export async function session(client, transport, { answer, onQuestion, call }) {
    if (answer !== 'none') {
        onQuestion(async request => {
            say('asked', { message: request.params.message, schema: request.params.requestedSchema });
            if (answer === 'decline' || answer === 'cancel') return { action: answer };
            if (answer === 'bare') return { action: 'accept' };
            return { action: 'accept', content: { decision: answer } };
        });
    }
    await client.connect(transport);
    say('connected', { version: client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? null });
    const names = [];
    const hints = {};
    let cursor;
    do {
        const page = await client.listTools(cursor === undefined ? undefined : { cursor });
        for (const tool of page.tools) {
            const hint = tool.annotations;
            names.push(tool.name);
            hints[tool.name] = [hint.readOnlyHint, hint.destructiveHint, hint.idempotentHint, hint.openWorldHint];
        }
        cursor = page.nextCursor;
    } while (cursor !== undefined);
    say('listed', { names: [...new Set(names)], hints });
    say('read', told(await call('Read', { file_path: 'a.txt' })));
    say('denied', told(await call('Read', { file_path: 'secret.env' })));
    say('invalid', told(await call('Read', { file: 1 })));
    try {
        await call('Nope', {});
        say('unknown', { code: null });
    } catch (error) {
        say('unknown', { code: error.code });
    }
    say('asking', told(await call('Write', { file_path: 'new.txt', content: 'new\n' })));
    const seen = [];
    const reported = await call('test_tool_with_progress', {}, { onprogress: progress => seen.push(progress.progress) });
    say('progress', { seen, ...told(reported) });
    const abort = new AbortController();
    setTimeout(() => abort.abort('given up'), 2000);
    try {
        const command = 'echo $$ > started; setsid sleep 300 & sleep 300';
        say('cancelled', { ended: true, ...told(await call('Bash', { command }, { signal: abort.signal })) });
    } catch (error) {
        say('cancelled', { ended: false, why: String(error.message ?? error) });
    }
    say('after', told(await call('Read', { file_path: 'a.txt' })));
    await client.close();
    say('closed');
}
