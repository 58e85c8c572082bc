/** Devices with kept sessions that come to another transport while they are connected: the former connection ends at once, and nothing is left of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect, type MqttClient } from 'mqtt'
import { eventually } from '../conformance/wait.ts'
import { RestClient, login } from '../support/clients.ts'
import { figure } from '../support/figure.ts'
import { requireServer, startNats, startPostgres } from '../support/servers/index.ts'
import { SLOWNESS } from '../support/slowness.ts'
import { natsAndPostgresEnvironment, startMember, type ClusterRole } from '../support/start-cluster.ts'
import type { RunningMillrace } from '../support/start-millrace.ts'

const ATTRIBUTES = 'v1/devices/me/attributes'
const DEVICES = 20
/** Without a word of the directory a connection stays until its keep alive ends it. */
const AT_ONCE_MS = 15_000 * SLOWNESS
const TAKEN_OVER = 0x8e

interface Came {
  readonly client: MqttClient
  readonly isPresent: boolean
  /** Resolves with the reason of the DISCONNECT, undefined where none came before the end. */
  readonly ended: Promise<number | undefined>
}

test(
  'a kept session that goes on at another transport ends at the former at once',
  { timeout: 600_000 },
  async (context) => {
    if (!requireServer(context, 'nats', 'postgres')) return
    const closing: (() => Promise<unknown>)[] = []
    context.after(async () => {
      for (const close of closing.reverse()) await close()
    })
    const [nats, postgres] = await Promise.all([startNats(), startPostgres()])
    closing.push(
      () => nats.stop(),
      () => postgres.stop(),
    )
    const environment = natsAndPostgresEnvironment({ nats: nats.url, postgres: postgres.url })
    const member = async (role: ClusterRole): Promise<RunningMillrace> => {
      const running = await startMember(environment, [role])
      closing.push(() => running.stop())
      return running
    }
    const api = await member('api')
    const [a, b] = await Promise.all([member('transport'), member('transport'), member('engine')])
    const rest = new RestClient(api, await login(api))
    const come = async ({ ports }: RunningMillrace, token: string, protocolVersion: 4 | 5): Promise<Came> => {
      const client = connect(`mqtt://127.0.0.1:${ports['mqtt']}`, {
        ...{ username: token, clientId: token, clean: false, protocolVersion, reconnectPeriod: 0, keepalive: 600 },
        ...(protocolVersion === 5 ? { properties: { sessionExpiryInterval: 3600 } } : {}),
      })
      closing.push(() => client.endAsync(true))
      let reason: number | undefined
      client.on('disconnect', ({ reasonCode }) => (reason = reasonCode))
      const ended = new Promise<number | undefined>((resolve) => client.once('close', () => resolve(reason)))
      const isPresent = await new Promise<boolean>((resolve, reject) => {
        client.once('connect', ({ sessionPresent }) => resolve(sessionPresent))
        client.once('error', reject)
      })
      return { client, isPresent, ended }
    }
    const kept = () => Promise.all([a, b].map((each) => figure(each, 'millrace_mqtt_kept_sessions')))
    const isKept = (expected: readonly number[]) =>
      eventually(kept, (found) => found.join() === expected.join(), 60_000 * SLOWNESS)

    const firsts: Came[] = []
    for (let device = 0; device < DEVICES; device++) {
      await rest.createDevice(`moves ${device}`, `MOVES_${device}`)
      const first = await come(a, `MOVES_${device}`, device % 2 === 0 ? 5 : 4)
      await first.client.subscribeAsync(ATTRIBUTES, { qos: 1 })
      firsts.push(first)
    }
    await isKept([DEVICES, 0])

    let longestMs = 0
    for (const [device, first] of firsts.entries()) {
      const second = await come(b, `MOVES_${device}`, device % 2 === 0 ? 5 : 4)
      const began = performance.now()
      assert.equal(second.isPresent, true)
      const reason = await first.ended
      longestMs = Math.max(longestMs, Math.round(performance.now() - began))
      assert.equal(reason, device % 2 === 0 ? TAKEN_OVER : undefined)
    }
    context.diagnostic(`${DEVICES} connections ended within ${longestMs} ms of the other's CONNACK`)
    assert.ok(longestMs < AT_ONCE_MS, `${longestMs} ms`)
    await isKept([0, DEVICES])
  },
)
