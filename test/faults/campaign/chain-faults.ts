/** The rule chain of the devices, and what befalls it: made, drawn and made the root, again and again, while messages run through it. */
import { setTimeout as delay } from 'node:timers/promises'
import { RUN_LOG_NODE, WITH_TEXT } from '../../support/run-log/index.ts'
import { RestClient, login } from '../../support/clients.ts'
import type { Fault } from './fault.ts'
import type { Shape } from './world.ts'

const PREFIX = 'org.thingsboard.rule.engine.'
/** Every message goes through JavaScript before it is saved; one that bids it to devours all memory. */
const SCRIPT = `if (msg.devour) { var all = []; for (;;) all.push(new Array(100000).fill(all.length)); }
return { msg: msg, metadata: metadata, msgType: msgType };`

const SPARES = 40

interface Drawn {
  /** With the node that logs each run: only where the world's programs have it. */
  readonly isLogged: boolean
  /** That node keeps each message for so long. */
  readonly holdMs?: number
}

/** As the web page and the SDKs do: a chain is made, then drawn, then made the root, in three requests. */
export async function replaceRootChain(rest: RestClient, name: string, drawn: Drawn, spares = 0): Promise<string> {
  const { id } = await rest.expect<{ id: { id: string } }>('POST', '/api/ruleChain', { name })
  await drawChain(rest, id.id, drawn, spares)
  await rest.expect('POST', `/api/ruleChain/${id.id}/root`)
  return id.id
}

/** With scripts of its own each time: every engine has to compile them, and `spares` that nobody runs make that last. */
async function drawChain(
  rest: RestClient,
  ruleChainId: string,
  { isLogged, holdMs = 0 }: Drawn,
  spares: number,
  note = '',
): Promise<void> {
  const script = (name: string) => ({
    type: `${PREFIX}transform.TbTransformMsgNode`,
    name,
    configuration: { scriptLang: 'JS', jsScript: `${SCRIPT} // ${name} ${note}`, tbelScript: 'return msg;' },
  })
  const save = {
    type: `${PREFIX}telemetry.TbMsgTimeseriesNode`,
    name: 'save',
    configurationVersion: 1,
    configuration: { defaultTTL: 0, useServerTs: false, processingSettings: { type: 'ON_EVERY_MESSAGE' } },
  }
  const unused = Array.from({ length: spares }, (_, spare) => script(`spare ${spare}`))
  await rest.expect('POST', '/api/ruleChain/metadata', {
    ruleChainId: { entityType: 'RULE_CHAIN', id: ruleChainId },
    firstNodeIndex: 0,
    nodes: [script('script'), save, ...(isLogged ? loggedNodes(holdMs) : []), ...unused],
    connections: isLogged ? LOGGED_CONNECTIONS : [{ fromIndex: 0, toIndex: 1, type: 'Success' }],
  })
}

/** Behind the script and the save: each message is logged before it is saved, and those with a text make a child, which is logged too. */
function loggedNodes(holdMs: number) {
  return [
    { type: RUN_LOG_NODE, name: 'run log', configuration: { isForked: true, holdMs } },
    { type: `${PREFIX}flow.TbCheckpointNode`, name: 'checkpoint', configurationVersion: 1, configuration: {} },
    { type: RUN_LOG_NODE, name: 'run log of children', configuration: { ofChildren: true } },
  ]
}
const LOGGED_CONNECTIONS = [
  { fromIndex: 0, toIndex: 2, type: 'Success' },
  { fromIndex: 2, toIndex: 1, type: 'Success' },
  { fromIndex: 2, toIndex: 1, type: WITH_TEXT },
  { fromIndex: 2, toIndex: 3, type: WITH_TEXT },
  { fromIndex: 3, toIndex: 4, type: 'Success' },
]

function rootReplaced(shape: Shape): Fault {
  return {
    name: 'the root chain replaced and redrawn again and again',
    row: 'Q6',
    shape,
    // What waits for a node that is drawn anew has nowhere to go on.
    losesChildren: true,
    holdMs: [3_000, 5_000],
    inject: async ({ api, runLog }, random) => {
      const drawn = { isLogged: runLog !== undefined }
      const rest = new RestClient(api.process, await login(api.process))
      const stop = new AbortController()
      const changing = async (): Promise<void> => {
        while (!stop.signal.aborted) {
          const id = await replaceRootChain(rest, `root ${random.between(0, 2 ** 31)}`, drawn, SPARES)
          for (let draws = random.between(0, 2); draws > 0; draws--)
            await drawChain(rest, id, drawn, SPARES, `draw ${draws}`)
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
