/** The proxy that ships, beside a server that says what means nothing: it looks for the next one. */
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startDtlsProxy } from '../support/dtls-proxy.ts'
import { requireTool } from '../support/require-tool.ts'

const DATAGRAM = 2
const KEY = 4
const BROKEN: readonly (readonly [what: string, bytes: readonly number[]])[] = [
  ['a datagram without a channel', [0, 0, 0, 2, DATAGRAM, 0]],
  ['a key for a request that is no number of 32 bits', [0, 0, 0, 23, KEY, ...Buffer.from('{"request":9999999999}')]],
  ['a frame of no length', [0, 0, 0, 0]],
  ['a frame that is too long', [0x7f, 0xff, 0xff, 0xff]],
]

test('the proxy comes again after a server that says what means nothing', { timeout: 600_000 }, async (t) => {
  for (const tool of ['java', 'javac', 'mvn']) if (!requireTool(t, tool)) return
  const folder = await mkdtemp(join(tmpdir(), 'millrace-link-'))
  const path = join(folder, 'server.sock')
  const open: Socket[] = []
  let accepted = Promise.withResolvers<Socket>()
  const server = createServer((link) => {
    open.push(link)
    accepted.resolve(link)
  })
  server.listen(path)
  await once(server, 'listening')
  const proxy = await startDtlsProxy('lwm2m', path)
  try {
    for (const [what, bytes] of BROKEN) {
      t.diagnostic(what)
      // The proxy says CONNECTED before this process has accepted.
      const link = await accepted.promise
      accepted = Promise.withResolvers()
      link.write(Buffer.from(bytes))
      await proxy.heard('CONNECTED')
    }
  } finally {
    await proxy.kill()
    for (const link of open) link.destroy()
    server.close()
    await rm(folder, { recursive: true, force: true })
  }
})
