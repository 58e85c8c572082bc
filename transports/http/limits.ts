/** Bounds on the HTTP device API. */

export interface HttpDeviceLimits {
  /** Body of an upload; over it the answer is 413. */
  readonly maxBodyBytes: number
  /** Body of a call or of the answer to one; over it the answer is 413 (`device-api.md` 11.4). */
  readonly maxCallBytes: number
  /** Long polls that wait at once; over it the answer is 503. */
  readonly maxWaitingPolls: number
  /** Of them those of one tenant; over it the answer is 503. */
  readonly maxWaitingPollsPerTenant: number
  /** How long a poll waits that names no time (`device-api.md` 6). */
  readonly pollTimeoutMs: number
  /** The longest a poll may ask for; more is cut to it. */
  readonly maxPollTimeoutMs: number
}

export const DEFAULT_HTTP_DEVICE_LIMITS: HttpDeviceLimits = Object.freeze({
  maxBodyBytes: 4_194_304,
  maxCallBytes: 65_536,
  maxWaitingPolls: 10_000,
  maxWaitingPollsPerTenant: 7500,
  pollTimeoutMs: 60_000,
  maxPollTimeoutMs: 300_000,
})
