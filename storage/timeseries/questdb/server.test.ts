import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { QuestDbServer } from './server.ts'

test('issue-8 4: lines that are refused are posted once, and the reason is the server’s', async (context) => {
  const posts: string[] = []
  const server = createServer((request, response) => {
    posts.push(`${request.method} ${request.url}`)
    request.resume().on('end', () => response.writeHead(400).end('no such column'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  context.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  const questdb = new QuestDbServer({ url: `http://127.0.0.1:${address.port}`, timeoutMs: 5_000, maxAnswerBytes: 1e6 })
  context.after(() => questdb.close())
  await assert.rejects(questdb.write('points k=1i 1t\n'), { code: 'questdb.POINTS_REFUSED', message: /no such column/ })
  assert.equal(posts.length, 1, String(posts))
})
