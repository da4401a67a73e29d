// One agent's session with the TypeScript client 2: a JSON line for each step.
//
// usage: node typescript_2.mjs legacy|auto ANSWER stdio COMMAND [ARGUMENT...]
//        node typescript_2.mjs legacy|auto ANSWER http URL
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { session } from './typescript_session.mjs';

const [era, answer, kind, ...target] = process.argv.slice(2);
const capabilities = answer === 'none' ? {} : { elicitation: { form: {} } };
const client = new Client(
    { name: 'field-typescript-2', version: '1' },
    { capabilities, versionNegotiation: { mode: era } },
);
const transport =
    kind === 'stdio'
        ? new StdioClientTransport({ command: target[0], args: target.slice(1), stderr: 'inherit' })
        : new StreamableHTTPClientTransport(new URL(target[0]));
await session(client, transport, {
    answer,
    onQuestion: handler => client.setRequestHandler('elicitation/create', handler),
    call: (name, input, options) => client.callTool({ name, arguments: input }, options),
});
