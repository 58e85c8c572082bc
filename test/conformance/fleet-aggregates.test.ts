/** A real process aggregates a fleet: a large aggregation on a thread of the pool, and the form of its node as clients get it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { RestClient, login } from '../support/clients.ts'
import { SLOWNESS } from '../support/slowness.ts'
import { startMillrace } from '../support/start-millrace.ts'

const DEVICES = 320
const METRICS = 20
/** Requests under way at a time. */
const LANES = 10

interface Component {
  readonly clazz: string
  readonly configurationDescriptor: { readonly nodeDefinition: { readonly relationTypes: readonly string[] } }
}

test(
  'an aggregation of a fleet runs on the pool and is telemetry of the tenant',
  { timeout: 600_000 },
  async (context) => {
    const millrace = await startMillrace()
    context.after(() => millrace.stop())
    const rest = new RestClient(millrace, await login(millrace))
    const components = await rest.expect<readonly Component[]>('GET', '/api/components?componentTypes=ANALYTICS')
    const form = components.find(({ clazz }) => clazz === 'millrace.analytics.AggregateLatest')
    assert.deepEqual(form?.configurationDescriptor.nodeDefinition.relationTypes, ['Success', 'Failure'])

    let made = 0
    await Promise.all(
      Array.from({ length: LANES }, async () => {
        while (made < DEVICES) {
          const index = made++
          await rest.createDevice(`of the fleet ${index}`, `FLEET_${index}`)
        }
      }),
    )
    const metric = (index: number) => ({
      ...{ source: 'LATEST_TELEMETRY', key: 'none has it', function: index === 0 ? 'SUM' : 'COUNT_UNIQUE' },
      ...{ missing: 1, outputKey: index === 0 ? 'devices' : `different ${index}` },
    })
    const chain = await rest.expect<{ id: { id: string } }>('POST', '/api/ruleChain', { name: 'of the fleet' })
    await rest.expect('POST', '/api/ruleChain/metadata', {
      ...{ ruleChainId: chain.id, firstNodeIndex: 1 },
      nodes: [
        {
          ...{ type: 'millrace.analytics.AggregateLatest', name: 'fleet', configurationVersion: 0 },
          configuration: {
            ...{
              trigger: 'PERIOD',
              periodSec: 1,
              parent: 'TENANT',
              members: 'OWNED',
              entityType: 'DEVICE',
              profiles: [],
            },
            relations: { direction: 'FROM', relationTypes: [], maxLevel: 1, fetchLastLevelOnly: false },
            ...{ useFilter: false, filterKeys: [], scriptLang: 'TBEL', jsScript: '', tbelScript: '' },
            // Together they are estimated to take more than what is computed at once.
            metrics: Array.from({ length: METRICS }, (_, index) => metric(index)),
          },
        },
        {
          ...{
            type: 'org.thingsboard.rule.engine.telemetry.TbMsgTimeseriesNode',
            name: 'save',
            configurationVersion: 1,
          },
          configuration: { defaultTTL: 0, useServerTs: false, processingSettings: { type: 'ON_EVERY_MESSAGE' } },
        },
      ],
      connections: [{ fromIndex: 0, toIndex: 1, type: 'Success' }],
    })
    const { tenantId } = await rest.expect<{ tenantId: { id: string } }>('GET', '/api/auth/user')
    const series = `/api/plugins/telemetry/TENANT/${tenantId.id}/values/timeseries?keys=devices&useStrictDataTypes=true`
    const deadline = performance.now() + 60_000 * SLOWNESS
    let latest: number | null | undefined
    do {
      assert.ok(performance.now() < deadline, `${latest} devices were told:\n${millrace.log()}`)
      await delay(50)
      const found = await rest.expect<Record<string, readonly { readonly value: number | null }[]>>('GET', series)
      latest = found['devices']?.[0]?.value
    } while (latest === undefined || latest === null || latest < DEVICES)
    const metrics = await (await fetch(`${millrace.url}/metrics`)).text()
    const pooled = /^millrace_aggregation_pooled_jobs_total (\d+)/m.exec(metrics)
    assert.ok(
      Number(pooled?.[1] ?? 0) > 0,
      metrics
        .split('\n')
        .filter((line) => line.includes('aggregation'))
        .join('\n'),
    )
  },
)
