// One agent's session with the TypeScript SDK 1: a JSON line for each step.
//
// usage: node typescript_1.mjs ANSWER stdio COMMAND [ARGUMENT...]
//        node typescript_1.mjs ANSWER http URL
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { session } from './typescript_session.mjs';

const [answer, kind, ...target] = process.argv.slice(2);
const capabilities = answer === 'none' ? {} : { elicitation: {} };
const client = new Client({ name: 'field-typescript-1', version: '1' }, { capabilities });
const transport =
    kind === 'stdio'
        ? new StdioClientTransport({ command: target[0], args: target.slice(1), stderr: 'inherit' })
        : new StreamableHTTPClientTransport(new URL(target[0]));
await session(client, transport, {
    answer,
    onQuestion: handler => client.setRequestHandler(ElicitRequestSchema, handler),
    call: (name, input, options) => client.callTool({ name, arguments: input }, undefined, options),
});
