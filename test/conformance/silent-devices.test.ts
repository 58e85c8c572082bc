/** The life of a device as rule chains see it: the example chain raises an alarm for one that falls silent, and clears it when it is heard again. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { installChain } from '../../commands/install-chain.ts'
import { RestClient, login } from '../support/clients.ts'
import { startMillrace } from '../support/start-millrace.ts'
import { eventually } from './wait.ts'

interface Alarms {
  readonly data: readonly {
    readonly type: string
    readonly status: string
    readonly details: { readonly lastActivityTime?: number; readonly backAt?: number }
  }[]
}

test('a device that falls silent has an alarm until it is heard again', async (context) => {
  // Longer than gateways gather what they heard before they tell it.
  const millrace = await startMillrace({
    environment: { DEFAULT_INACTIVITY_TIMEOUT: '8', DEFAULT_STATE_CHECK_INTERVAL: '1' },
  })
  context.after(() => millrace.stop())
  assert.equal(await installChain(['examples/silent-devices.json', '--url', millrace.url, '--root']), 0)
  const rest = new RestClient(millrace, await login(millrace))
  const id = await rest.createDevice('pump', 'PUMP')
  const heard = async () => {
    const answer = await fetch(`${millrace.url}/api/v1/PUMP/telemetry`, { method: 'POST', body: '{"pressure":3.5}' })
    assert.equal(answer.status, 200)
  }
  const alarm = async (status: string) => {
    const path = `/api/alarm/DEVICE/${id}?pageSize=5&page=0`
    const { data } = await eventually(
      () => rest.expect<Alarms>('GET', path),
      (alarms) => alarms.data[0]?.status === status,
    )
    assert.deepEqual(
      data.map(({ type }) => type),
      ['Silent'],
    )
    return data[0]?.details ?? {}
  }
  await heard()
  const { lastActivityTime = 0 } = await alarm('ACTIVE_UNACK')
  assert.ok(lastActivityTime > 0)
  // It would be silent once more before a slow machine looks.
  const scope = `/api/plugins/telemetry/DEVICE/${id}/attributes/SERVER_SCOPE`
  await rest.expect('POST', scope, { inactivityTimeout: 3_600_000 })
  await heard()
  const { backAt = 0 } = await alarm('CLEARED_UNACK')
  assert.ok(backAt > lastActivityTime)
})
