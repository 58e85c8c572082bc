/**
 * Which of its effects a save node has for one message (`rule-engine.md` 10.5): always, for the first message of an
 * originator in each interval, or never. What was seen is kept in memory only, as in the reference.
 */
import { z } from 'zod'
import type { JsonValue } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'

const MAX_INTERVAL_SECONDS = 86_400
/** Intervals remembered at once; the oldest goes, so a very late message opens its interval again. */
const MAX_INTERVALS = 100
/** Originators remembered in all intervals together; beyond it the oldest interval goes too, the newest never. */
const MAX_REMEMBERED = 1_000_000

const everyMessage = z.looseObject({ type: z.literal('ON_EVERY_MESSAGE') })
const deduplicate = z.looseObject({
  type: z.literal('DEDUPLICATE'),
  deduplicationIntervalSecs: z.int().min(1).max(MAX_INTERVAL_SECONDS),
})
const skip = z.looseObject({ type: z.literal('SKIP') })
const actionSettings = z.discriminatedUnion('type', [everyMessage, deduplicate, skip])
const EVERY_MESSAGE_OR = actionSettings.default({ type: 'ON_EVERY_MESSAGE' })

/** `actions`: the node's effects as its ADVANCED settings name them. */
export function processingSettings<Action extends string>(actions: readonly [Action, ...Action[]]) {
  return z
    .discriminatedUnion('type', [
      everyMessage,
      deduplicate,
      z.looseObject({ type: z.literal('WEBSOCKETS_ONLY') }),
      z.looseObject({
        type: z.literal('ADVANCED'),
        // Chains from before there were calculated fields do not name them.
        ...(Object.fromEntries(
          actions.map((action) => [action, action === 'calculatedFields' ? EVERY_MESSAGE_OR : actionSettings]),
        ) as Record<Action, typeof actionSettings>),
      }),
    ])
    .meta({
      title: 'Processing settings',
      description: 'When it writes and notifies: ON_EVERY_MESSAGE, DEDUPLICATE, WEBSOCKETS_ONLY, ADVANCED.',
    })
}

/** What a chain is saved with: with settings that mean nothing a node does not start, as in the reference. */
export const someSettings = z.custom<JsonValue>((settings) => (settings ?? null) !== null, 'must not be null')

type ActionSettings = z.output<typeof actionSettings>

export type ProcessingSettings<Action extends string> =
  | ActionSettings
  | { readonly type: 'WEBSOCKETS_ONLY' }
  | ({ readonly type: 'ADVANCED' } & Readonly<Record<Action, ActionSettings>>)

export type Decision<Action extends string> = Readonly<Record<Action, boolean>>

/** Decides for a message at `ts` (Unix ms). Asking counts as having seen it; the same message stays the first on a retry. */
export type SaveStrategy<Action extends string> = (ts: number, message: Message) => Decision<Action>

export function saveStrategy<Action extends string>(
  settings: ProcessingSettings<Action>,
  actions: readonly Action[],
  maxRemembered = MAX_REMEMBERED,
): SaveStrategy<Action> {
  const decision = (choose: (action: Action) => boolean): Decision<Action> =>
    Object.fromEntries(actions.map((action) => [action, choose(action)])) as Decision<Action>
  const all = decision(() => true)
  const none = decision(() => false)
  switch (settings.type) {
    case 'ON_EVERY_MESSAGE':
      return () => all
    case 'SKIP':
      return () => none
    case 'WEBSOCKETS_ONLY': {
      const onlyPush = decision((action) => action === 'webSockets')
      return () => onlyPush
    }
    case 'DEDUPLICATE': {
      const isFirst = firstInInterval(settings.deduplicationIntervalSecs, maxRemembered)
      return (ts, message) => (isFirst(ts, message) ? all : none)
    }
    case 'ADVANCED': {
      const each = actions.map((action) => [action, actionStrategy(settings[action], maxRemembered)] as const)
      return (ts, message) => {
        const made: Partial<Record<Action, boolean>> = {}
        for (const [action, applies] of each) made[action] = applies(ts, message)
        return made as Decision<Action>
      }
    }
  }
}

function actionStrategy(settings: ActionSettings, maxRemembered: number): (ts: number, message: Message) => boolean {
  switch (settings.type) {
    case 'ON_EVERY_MESSAGE':
      return () => true
    case 'SKIP':
      return () => false
    case 'DEDUPLICATE':
      return firstInInterval(settings.deduplicationIntervalSecs, maxRemembered)
  }
}

function firstInInterval(seconds: number, maxRemembered: number): (ts: number, message: Message) => boolean {
  /** By number of the interval: the message that was the first of its originator. */
  const intervals = new Map<number, Map<string, string>>()
  let remembered = 0
  const forgetOldest = (): void => {
    const oldest = Math.min(...intervals.keys())
    remembered -= intervals.get(oldest)?.size ?? 0
    intervals.delete(oldest)
  }
  return (ts, message) => {
    const interval = Math.floor(ts / (seconds * 1000))
    let firsts = intervals.get(interval)
    if (firsts === undefined) {
      if (intervals.size >= MAX_INTERVALS) forgetOldest()
      intervals.set(interval, (firsts = new Map<string, string>()))
    }
    const first = firsts.get(message.originator.id)
    if (first !== undefined) return first === message.id
    firsts.set(message.originator.id, message.id)
    remembered++
    while (remembered > maxRemembered && intervals.size > 1) forgetOldest()
    return true
  }
}
