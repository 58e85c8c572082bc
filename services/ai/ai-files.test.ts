/** Questions with files of a real store, to a provider that notes what it is asked. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import type { Principal } from '../../model/principal.ts'
import { systemClock } from '../../model/system-clock.ts'
import { FileRoom } from '../content/file-room.ts'
import { testOutbound } from '../outbound/testkit.ts'
import { insertTenant, openTestPlatform, type TestPlatform } from '../testkit.ts'
import { AiFiles } from './ai-files.ts'

const bodies: string[] = []
const server = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
  request.on('end', () => {
    bodies.push(body)
    response.end('{"choices":[{"message":{"content":"yes"}}]}')
  })
}).listen(0, '127.0.0.1')
await once(server, 'listening')
let platform: TestPlatform
before(async () => {
  platform = await openTestPlatform({ outbound: testOutbound() })
})
after(async () => {
  await platform.close()
  server.close()
  server.closeAllConnections()
})
beforeEach(() => void (bodies.length = 0))

async function upload(fileName: string, mediaType: string | null, more: { by?: Principal; type?: string } = {}) {
  const descriptor = mediaType === null ? null : { mediaType }
  const draft = { title: fileName, fileName, resourceType: more.type ?? 'GENERAL', descriptor }
  const { resources } = platform.services.content
  return (await resources.save(more.by ?? platform.tenant, draft, Buffer.from(`bytes of ${fileName}`))).id
}

async function openModel(fileIds: readonly string[]) {
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const configuration = { provider: 'OPENAI', modelId: 'm', providerConfig: { baseUrl, apiKey: 'k' } }
  const { services, tenant, tenantId } = platform
  const { id } = await services.aiModels.saveByUser(tenant, { name: `model ${fileIds.join()}`, configuration })
  return services.ai.ofNode({ tenantId }).open(id, { timeoutMs: 15_000, isAwaited: true, fileIds })
}

const QUESTION = { user: 'Is it normal?', format: { type: 'TEXT' } } as const

test('files go with the question as they are when it is asked, and leave memory with the answer', async (t) => {
  const { resources, room } = platform.services.content
  const id = await upload('limits.csv', 'text/csv')
  const model = await openModel([id, await upload('a.png', 'image/png')])
  t.after(() => model.close())
  assert.equal(await model.ask(QUESTION), 'yes')
  await resources.save(platform.tenant, { id }, Buffer.from('changed'))
  await model.ask(QUESTION)
  const image = `data:image/png;base64,${Buffer.from('bytes of a.png').toString('base64')}`
  assert.deepEqual(
    bodies.map((body) => JSON.parse(body) as unknown),
    ['bytes of limits.csv', 'changed'].map((text) => ({
      model: 'm',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Is it normal?' },
            { type: 'text', text },
            { type: 'image_url', image_url: { url: image } },
          ],
        },
      ],
    })),
  )
  assert.equal(room.bytes, 0)
  await resources.service.deleteByUser(platform.tenant, id)
  await assert.rejects(model.ask(QUESTION), { code: 'ai.FILE_MISSING' })
  assert.equal(room.bytes, 0)
})

test('files of nobody, of another tenant and of other types keep the model from being opened', async () => {
  const { tenant, entities } = platform
  const tenantId = '88888888-8888-4888-8888-888888888888'
  await entities.write([insertTenant(entities, tenantId, 'Other')])
  const foreign = await upload('theirs.csv', 'text/csv', { by: { ...tenant, tenantId } })
  await assert.rejects(openModel([foreign]), { code: 'ai.FILE_MISSING' })
  await assert.rejects(openModel(['99999999-9999-4999-8999-999999999999']), { code: 'ai.FILE_MISSING' })
  const script = await upload('clock.js', null, { type: 'JS_MODULE' })
  await assert.rejects(openModel([script]), { code: 'ai.FILE_KIND' })
})

test('a file without a media type is told by its name', async (t) => {
  const model = await openModel([await upload('odd.bin', null)])
  t.after(() => model.close())
  await assert.rejects(model.ask(QUESTION), { code: 'ai.FILE_TYPELESS', message: /odd\.bin/ })
  assert.deepEqual([bodies.length, platform.services.content.room.bytes], [0, 0])
})

test('questions of a tenant that wait for their model leave room for the files of all others', async () => {
  const id = await upload('large.csv', 'text/csv')
  const record = await platform.services.content.resources.findShared(platform.tenantId, id)
  assert.ok(record !== undefined)
  const [room, bytes] = [new FileRoom(), 10 * 2 ** 20]
  const files = new AiFiles(
    {
      findShared: async () => ({ ...record, dataSize: bytes, previewSize: 0 }),
      hold: () => room.hold(bytes, 'known', async () => Buffer.from('large')),
    },
    systemClock,
  )
  const answered = Promise.withResolvers<void>()
  const asked = { ids: [id], waitMs: 60_000 }
  const waiting = Array.from({ length: 40 }, () => files.with('a', asked, () => answered.promise))
  await files.with('b', asked, async () => assert.equal(room.bytes, 4 * bytes))
  await assert.rejects(
    files.with('a', { ...asked, waitMs: 1 }, async () => undefined),
    { code: 'outbound.TIMEOUT' },
  )
  answered.resolve()
  await Promise.all(waiting)
  assert.equal(room.bytes, 0)
})
