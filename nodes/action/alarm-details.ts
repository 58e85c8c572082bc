/** The script that builds an alarm's details, and what the nodes that raise and clear alarms tell of them (`rule-nodes.md` 6.2). */
import { z } from 'zod'
import type { NodeAlarm } from '../../engine/rulechain/capabilities/alarms.ts'
import type { Soon } from '../../engine/rulechain/capabilities/soon.ts'
import type { NodeContext } from '../../engine/rulechain/node.ts'
import type { CompiledScript } from '../../engine/script/script.ts'
import type { KnownMessageType } from '../../model/message-type.ts'
import { parseJson, stringifyJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import { PROCESS_BACKFILL } from '../backfill.ts'
import { withMetadata } from '../body.ts'
import { ofField, orZero } from '../define-node.ts'

const DEFAULT_SCRIPT = `var details = {};
if (metadata.prevAlarmDetails != null) {
    details = JSON.parse(metadata.prevAlarmDetails);
    metadata.remove('prevAlarmDetails');
}
return details;`

const DEFAULT_JS_SCRIPT = `var details = {};
if (metadata.prevAlarmDetails) {
    details = JSON.parse(metadata.prevAlarmDetails);
    delete metadata.prevAlarmDetails;
}
return details;`

export const DETAILS_DEFAULTS = {
  scriptLang: 'TBEL',
  alarmDetailsBuildJs: DEFAULT_JS_SCRIPT,
  alarmDetailsBuildTbel: DEFAULT_SCRIPT,
} as const satisfies JsonObject

/** Members of both configurations. */
export const detailsMembers = {
  processBackfill: PROCESS_BACKFILL,
  scriptLang: orZero(z.enum(['TBEL', 'JS']), 'JS').meta({ title: 'Language of the details' }),
  alarmDetailsBuildJs: orZero(z.string(), '').meta({
    title: 'Details in JavaScript',
    description:
      'Function body; arguments msg, metadata, msgType. metadata.prevAlarmDetails holds the present details.',
  }),
  alarmDetailsBuildTbel: orZero(z.string(), '').meta({
    title: 'Details in TBEL',
    description:
      'Function body; arguments msg, metadata, msgType. metadata.prevAlarmDetails holds the present details.',
  }),
  alarmType: orZero(z.string(), '').meta({ title: 'Alarm type', description: 'May hold ${metadata} and $[data].' }),
}

export interface DetailsScript {
  /** Rejects with what the script fails for. `before`: the details that an alarm has already. */
  details(message: Message, before?: JsonValue): Soon<JsonValue>
  close(): void
}

interface DetailsConfiguration {
  readonly scriptLang: 'TBEL' | 'JS'
  readonly alarmDetailsBuildJs: string
  readonly alarmDetailsBuildTbel: string
}

/** Throws `FIELD_INVALID` for a script that does not compile. */
export async function detailsScript(
  { scriptLang, alarmDetailsBuildJs, alarmDetailsBuildTbel }: DetailsConfiguration,
  { tenantId, ruleNodeId, ruleNodeName, ruleChainId, ruleChainName, services }: NodeContext<'scripts'>,
): Promise<DetailsScript> {
  const [field, body] =
    scriptLang === 'TBEL'
      ? ['alarmDetailsBuildTbel', alarmDetailsBuildTbel]
      : ['alarmDetailsBuildJs', alarmDetailsBuildJs]
  const script = await ofField(field, () =>
    services.scripts.compile({
      ...{ language: scriptLang, kind: 'json', tenantId, ownerId: ruleNodeId, ownerName: ruleNodeName },
      ...{ body, ruleChainId, ruleChainName },
    }),
  )
  return {
    details: (message, before) => {
      const seen =
        before === undefined || before === null
          ? message
          : withMetadata(message, [['prevAlarmDetails', stringifyJson(before)]])
      return script.run === undefined ? ran(script, seen) : parseJson(script.run(seen))
    },
    close: () => script.close(),
  }
}

function ran(script: CompiledScript<'json'>, message: Message): Promise<JsonValue> {
  return new Promise((resolve, reject) => {
    const ended = script.runBatch([message], {
      value: (_index, value) => resolve(parseJson(value)),
      error: (_index, error) => reject(error),
    })
    ended?.catch(reject)
  })
}

/** The message as it goes on: the alarm as its body, and a mark in the metadata. */
export function alarmMessage(message: Message, { json }: NodeAlarm, mark: string): Message {
  return withMetadata(message, [[mark, 'true']]).with({ type: 'ALARM', data: stringifyJson(json) }, { json })
}

/** To the chain that the originator begins in: its metadata name the node alone, and what is null is left out, as in the reference. */
export async function tellOfAlarm(
  message: Message,
  type: KnownMessageType,
  { json, originator }: NodeAlarm,
  { ruleNodeId, clock, enqueue }: Pick<NodeContext, 'ruleNodeId' | 'clock' | 'enqueue'>,
): Promise<void> {
  const told = Object.fromEntries(Object.entries(json).filter(([, value]) => value !== null))
  const data = stringifyJson(told)
  const metadata = { ruleNodeId }
  await enqueue(message.with({ type, ts: clock.now(), originator, metadata, data }, { json: told }))
}
