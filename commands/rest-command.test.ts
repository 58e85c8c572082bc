import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { z } from 'zod'
import { runRestCommand, wholeNumber, type RestCall } from './rest-command.ts'

const flags = z
  .object({ rows: wholeNumber(1).default(20), json: z.boolean().default(false), only: z.string().optional() })
  .refine(({ json, only }) => !json || only === undefined, 'either --json or --only')
const USAGE = 'list NAME [--rows N]\n'

let url: string
const logins: unknown[] = []
const server = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk: Buffer) => (body += chunk.toString()))
  request.on('end', () => {
    if (request.url === '/api/auth/login') {
      logins.push(JSON.parse(body))
      response.end(JSON.stringify({ token: 'good' }))
    } else {
      response.statusCode = 404
      response.end(JSON.stringify({ message: 'nothing here' }))
    }
  })
})

before(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(() => server.close())

async function run(...argv: string[]) {
  const out: string[] = []
  const errors: string[] = []
  const calls: RestCall<z.infer<typeof flags>>[] = []
  const code = await runRestCommand(
    {
      usage: USAGE,
      flags,
      argument: 'one name',
      login: { user: 'root@example.org', password: 'secret' },
      run: async (call) => {
        calls.push(call)
        const session = await call.open()
        await session.request('GET', `/api/${call.argument}`)
      },
    },
    argv,
    { out: (line) => out.push(line), error: (line) => errors.push(line) },
  )
  return { code, out, errors: errors.join('\n'), calls }
}

test('flags are read by the schema, and what the server refuses is the error', async () => {
  const { code, errors, calls } = await run('lamps', '--url', `${url}/`, '--rows', '5', '--json')
  assert.equal(code, 1)
  assert.match(errors, /GET \/api\/lamps answered 404: nothing here/)
  assert.deepEqual(calls[0]?.flags, { rows: 5, json: true })
  assert.deepEqual(logins.at(-1), { username: 'root@example.org', password: 'secret' })
  await run('lamps', '--url', url, '--user', 'other', '--password', 'p')
  assert.deepEqual(logins.at(-1), { username: 'other', password: 'p' })
})

test('help is no error and asks nobody', async () => {
  const before = logins.length
  for (const flag of ['--help', '-h']) assert.deepEqual((await run(flag)).out, [USAGE.trimEnd()])
  assert.equal((await run('--help')).code, 0)
  assert.equal(logins.length, before)
})

for (const [name, argv, reason] of [
  ['a flag that nobody knows', ['lamps', '--rose', '5'], /--rose[\s\S]*list NAME/],
  ['a text that its flag does not take', ['lamps', '--rows', '0'], /^--rows 0: a whole number from 1 is expected$/],
  ['an address that is none', ['lamps', '--url', 'nowhere'], /^--url nowhere: an address such as/],
  ['flags that exclude each other', ['lamps', '--json', '--only', 'x'], /^either --json or --only$/],
  ['no argument', [], /^one name is expected\n\nlist NAME/],
  ['two arguments', ['lamps', 'doors'], /^one name is expected/],
] as const) {
  test(`${name} is said before anybody is asked`, async () => {
    const { code, errors, calls } = await run(...argv)
    assert.equal(code, 1)
    assert.match(errors, reason)
    assert.equal(calls.length, 0)
  })
}

test('a flag that is needed and not there is named', async () => {
  const errors: string[] = []
  const needed = { usage: USAGE, flags: z.object({ tenant: z.string() }), run: () => Promise.resolve() }
  assert.equal(await runRestCommand(needed, [], { out: () => undefined, error: (line) => errors.push(line) }), 1)
  assert.deepEqual(errors, ['--tenant is missing (--help tells more)'])
})

test('a server that does not answer is named', async () => {
  const { code, errors } = await run('lamps', '--url', 'http://127.0.0.1:1')
  assert.equal(code, 1)
  assert.match(errors, /no Millrace answers at http:\/\/127\.0\.0\.1:1/)
})
