/** Bounds on one payload, whatever protocol brought it. JSON's depth is bounded by the codec (`MAX_JSON_DEPTH`). */

export interface PayloadLimits {
  /** Stops an upload that would become a flood of messages. Values of all groups together. */
  readonly maxEntries: number
  /** Characters. Above what the save node allows (255), so that its answer stays the one that rule chains see. */
  readonly maxKeyLength: number
  /** Characters of one text value; 0 is no bound but the payload's size (`max_string_value_length`). */
  readonly maxStringLength: number
  /** Texts that are plain numbers become numbers (`JSON_TYPE_CAST_ENABLED`). */
  readonly castStrings: boolean
}

export const DEFAULT_PAYLOAD_LIMITS: PayloadLimits = Object.freeze({
  maxEntries: 100_000,
  maxKeyLength: 1024,
  maxStringLength: 0,
  castStrings: true,
})
