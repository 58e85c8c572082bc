/** A profile that becomes the one of who names none. Knows no page. */

/** @typedef {Record<string, any>} Json */

/**
 * Where somebody else has saved it meanwhile the version stays that of `shown`, so that saving what is shown is refused.
 * @param {Json} shown @param {Json} answered of the call that made it the default @returns {Json}
 */
export function asDefault(shown, answered) {
  return answered['version'] === shown['version'] + 1 ? answered : { ...shown, default: true }
}
