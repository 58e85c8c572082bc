/** What no try can bring through is kept with its body and reason, for its tenant to look at, try again, or remove. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEMO_CUSTOMER, DEMO_SYSADMIN, DEMO_TOKEN, RestClient, login } from '../support/clients.ts'
import { startMillrace } from '../support/start-millrace.ts'
import { eventually } from './wait.ts'

interface Letters {
  readonly data: readonly {
    readonly id: number
    readonly reason: string
    readonly message: { readonly type: string; readonly data: string }
  }[]
  readonly hasNext: boolean
}

test('a message that fails becomes a dead letter, which its tenant reads, replays and removes', async (context) => {
  const millrace = await startMillrace()
  context.after(() => millrace.stop())
  const rest = new RestClient(millrace, await login(millrace))
  const letters = () => rest.expect<Letters>('GET', '/api/deadLetters?limit=10')
  assert.deepEqual(await letters(), { data: [], hasNext: false })

  const sent = await fetch(`${millrace.url}/api/v1/${DEMO_TOKEN}/telemetry`, { method: 'POST', body: '{}' })
  assert.equal(sent.status, 200)
  const [letter] = (await eventually(letters, ({ data }) => data.length === 1)).data
  assert.equal(letter?.message.type, 'POST_TELEMETRY_REQUEST')
  assert.equal(letter?.message.data, '{}')
  assert.ok(letter.reason.length > 0)

  for (const account of [DEMO_SYSADMIN, DEMO_CUSTOMER]) {
    const stranger = new RestClient(millrace, await login(millrace, account))
    assert.equal((await stranger.call('GET', '/api/deadLetters')).status, 403)
    assert.equal((await stranger.call('POST', `/api/deadLetters/${letter.id}/replay`)).status, 403)
  }
  await rest.expect('POST', `/api/deadLetters/${letter.id}/replay`)
  const again = (await eventually(letters, ({ data }) => data.length === 1 && data[0]?.id !== letter.id)).data[0]
  await rest.expect('DELETE', `/api/deadLetters/${again?.id}`)
  assert.deepEqual(await letters(), { data: [], hasNext: false })
  assert.equal((await rest.call('DELETE', `/api/deadLetters/${again?.id}`)).status, 404)
  assert.equal((await rest.call('DELETE', '/api/deadLetters/x')).status, 400)
  assert.equal((await rest.call('GET', '/api/deadLetters?limit=0')).status, 400)
})
