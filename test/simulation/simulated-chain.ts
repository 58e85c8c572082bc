/** The rule engine of the simulations, with a real chain: a fan-out to two saving nodes, one of which throws at poison. */
import type { Clock } from '../../model/clock.ts'
import type { Message } from '../../model/message.ts'
import type { SeededRandom } from '../../engine/actor/testkit.ts'
import { createActorSystem } from '../../engine/actor/system.ts'
import type { Link } from '../../engine/link/link.ts'
import { createRuleEngine, type RuleEngine } from '../../engine/rulechain/rule-engine.ts'
import { catalogueOf, chainOf, TENANT_ID } from '../../engine/rulechain/testkit.ts'
import { isPoison } from './checker.ts'

/** Its chain is the same. */
export const OTHER_TENANT_ID = '10000000-0000-4000-8000-000000000002'

export interface SimulatedChainOptions {
  readonly clock: Clock
  readonly random: SeededRandom
  readonly link: Link
  readonly onError: (error: unknown) => void
  /** A message begins its way through the chain. */
  readonly started: (message: Message) => void
  readonly save: (key: string, value: string, done: (error: Error | undefined) => void) => void
  readonly bug?: ChainBug | undefined
}

/** Planted: nobody waits for the store · an effect is no longer the same where its message is delivered again. */
const CHAIN_BUGS = ['settle before the store', 'a redelivery has effects of its own'] as const
type ChainBug = (typeof CHAIN_BUGS)[number]

/** That part of the planted bugs which is the chain's. */
export function chainBugOf(bug: string | undefined): ChainBug | undefined {
  return CHAIN_BUGS.find((one) => one === bug)
}

/** Resolves when the chain runs. */
export async function startSimulatedChain(options: SimulatedChainOptions): Promise<RuleEngine> {
  const { clock, random, link, onError, started, bug } = options
  const begun = new Set<string>()
  const save = (effect: string, message: Message): Promise<string> | string => {
    const saved = new Promise<string>((resolve, reject) => {
      const key = `${effect} ${message.id}`
      const isRedelivery = bug === 'a redelivery has effects of its own' && begun.has(key)
      begun.add(key)
      options.save(isRedelivery ? `${key} again` : key, message.data, (error) =>
        error === undefined ? resolve('Success') : reject(error),
      )
    })
    if (bug !== 'settle before the store') return saved
    saved.catch(() => undefined)
    return 'Success'
  }
  const engine = createRuleEngine({
    catalogue: catalogueOf({
      split: () => ({
        handle: (message) => {
          started(message)
          return { message, relations: ['Save', 'Audit'] }
        },
      }),
      save: () => ({
        handle: (message) => {
          if (isPoison(message.data)) throw new Error('poison')
          return save('save', message)
        },
      }),
      audit: () => ({ handle: (message) => save('audit', message) }),
    }),
    capabilities: {},
    clock,
    random,
    actors: createActorSystem({ clock, onError: ({ error }) => onError(error) }),
    log: () => undefined,
    link,
  })
  for (const [id, tenantId] of [
    ['chain', TENANT_ID],
    ['other chain', OTHER_TENANT_ID],
  ] as const) {
    const { chain, graph } = chainOf(
      id,
      [{ type: 'split' }, { type: 'save' }, { type: 'audit' }],
      [
        [0, 'Save', 1],
        [0, 'Audit', 2],
      ],
      { tenantId },
    )
    await engine.load(chain, graph)
  }
  return engine
}
