import type { Config } from '../config/settings.ts'
import { stampingObserver } from '../engine/device/owner/stamping.ts'
import type { FrameObserver } from '../engine/link/options.ts'

/** What messages get as their frames are opened, by the owner of the stream or by who reads it again. */
export function stampsOf({ backfillAfterMinutes }: Config): FrameObserver {
  return stampingObserver({ backfillAfterMs: backfillAfterMinutes * 60_000 })
}
