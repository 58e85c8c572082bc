import { stampingObserver } from '../../../engine/device/owner/stamping.ts'
import { systemClock, systemRandom } from '../../../model/system-clock.ts'
import { Trials } from '../../../workbench/trial/trials.ts'
import type { MakeThings } from './make-things.ts'

/** A trial of a chain of the tenant, which found nothing. */
export const makeChainTrials: MakeThings = async ({ services, tenant, tenantId, link }) => {
  const { id: ruleChainId } = await services.ruleChains.saveByUser(tenant, { name: 'secret chain on trial' })
  const nothing = () => {
    throw new Error('no node asks for anything')
  }
  const none = { alarms: nothing, attributes: nothing, calls: nothing, deviceState: nothing, entities: nothing }
  const outside = { history: nothing, mail: nothing, notifications: nothing, outbound: nothing, queues: nothing }
  const rest = {
    calculated: nothing,
    relations: nothing,
    routes: nothing,
    scripts: nothing,
    aggregation: nothing,
    ai: nothing,
    sms: nothing,
    state: nothing,
    tables: nothing,
    telemetry: nothing,
    views: nothing,
  }
  const trials = new Trials({
    ...{ link, catalogue: { find: () => undefined, all: () => [] }, clock: systemClock, random: systemRandom },
    capabilities: { ...none, ...outside, ...rest },
    observer: stampingObserver,
    openConfiguration: ({ configuration }) => configuration,
    maskConfiguration: ({ configuration }) => configuration,
  })
  services.chainTrials.follow(trials)
  const drawing = { ruleChainId, firstNodeIndex: null, nodes: [], connections: [] }
  const begun = services.chainTrials.begin(
    { kind: 'replay', tenantId, ruleChainId, isReal: false, from: 0, durationMs: 1, maxMessages: 1 },
    await services.ruleChains.forTrial(tenant, drawing),
  )
  return { trialId: begun.id }
}
