/**
 * Telemetry that comes late, such as a gateway's stored day, is stored and counted as any other; alarms speak of the present, and are left
 * alone by it unless the node says otherwise (`docs/internals/queues.md`).
 */
import { z } from 'zod'
import type { Message } from '../model/message.ts'

export interface BackfillConfiguration {
  readonly processBackfill?: boolean | null | undefined
}

/** A member of the configurations of nodes that raise or clear alarms. */
export const PROCESS_BACKFILL = z.boolean().nullish().meta({
  title: 'Take backfill too',
  description: 'Telemetry older than BACKFILL_AFTER_MINUTES; without it such messages pass.',
})

export function passesBy(message: Message, { processBackfill }: BackfillConfiguration): boolean {
  return message.isBackfill && processBackfill !== true
}
