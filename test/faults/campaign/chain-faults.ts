/** The rule chain of the devices, and what befalls it: made, drawn and made the root, again and again, while messages run through it. */
import { setTimeout as delay } from 'node:timers/promises'
import { RestClient, login } from '../../support/clients.ts'
import type { Fault } from './fault.ts'
import type { Shape } from './world.ts'

const PREFIX = 'org.thingsboard.rule.engine.'
/** Every message goes through JavaScript before it is saved; one that bids it to devours all memory. */
const SCRIPT = `if (msg.devour) { var all = []; for (;;) all.push(new Array(100000).fill(all.length)); }
return { msg: msg, metadata: metadata, msgType: msgType };`

const SPARES = 40

/** As the web page and the SDKs do: a chain is made, then drawn, then made the root, in three requests. */
export async function replaceRootChain(rest: RestClient, name: string, spares = 0): Promise<string> {
  const { id } = await rest.expect<{ id: { id: string } }>('POST', '/api/ruleChain', { name })
  await drawChain(rest, id.id, spares)
  await rest.expect('POST', `/api/ruleChain/${id.id}/root`)
  return id.id
}

/** With scripts of its own each time: every engine has to compile them, and `spares` that nobody runs make that last. */
async function drawChain(rest: RestClient, ruleChainId: string, spares: number, note = ''): Promise<void> {
  const script = (name: string) => ({
    type: `${PREFIX}transform.TbTransformMsgNode`,
    name,
    configuration: { scriptLang: 'JS', jsScript: `${SCRIPT} // ${name} ${note}`, tbelScript: 'return msg;' },
  })
  await rest.expect('POST', '/api/ruleChain/metadata', {
    ruleChainId: { entityType: 'RULE_CHAIN', id: ruleChainId },
    firstNodeIndex: 0,
    nodes: [
      script('script'),
      {
        type: `${PREFIX}telemetry.TbMsgTimeseriesNode`,
        name: 'save',
        configurationVersion: 1,
        configuration: { defaultTTL: 0, useServerTs: false, processingSettings: { type: 'ON_EVERY_MESSAGE' } },
      },
      ...Array.from({ length: spares }, (_, spare) => script(`spare ${spare}`)),
    ],
    connections: [{ fromIndex: 0, toIndex: 1, type: 'Success' }],
  })
}

function rootReplaced(shape: Shape): Fault {
  return {
    name: 'the root chain replaced and redrawn again and again',
    row: 'Q6',
    shape,
    holdMs: [3_000, 5_000],
    inject: async ({ api }, random) => {
      const rest = new RestClient(api.process, await login(api.process))
      const stop = new AbortController()
      const changing = async (): Promise<void> => {
        while (!stop.signal.aborted) {
          const id = await replaceRootChain(rest, `root ${random.between(0, 2 ** 31)}`, SPARES)
          for (let draws = random.between(0, 2); draws > 0; draws--) await drawChain(rest, id, SPARES, `draw ${draws}`)
          await delay(random.between(0, 300))
        }
      }
      const changed = Promise.allSettled([changing()])
      return async () => {
        stop.abort()
        const [outcome] = await changed
        if (outcome.status === 'rejected') throw outcome.reason
      }
    },
  }
}

export const CHAIN_FAULTS: readonly Fault[] = [rootReplaced('production'), rootReplaced('embedded')]
