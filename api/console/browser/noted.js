/** What a rule node or a calculated field notes of what it did: its debug settings, in words. Knows no page. */

const ALL = 'All messages for some minutes, then failures'
const FAILURES = 'Failures'
const NOTHING = 'Nothing'

/** What is offered, and what each means. @type {Readonly<Record<string, { failuresEnabled: boolean, allEnabled: boolean }>>} */
export const NOTED = {
  [NOTHING]: { failuresEnabled: false, allEnabled: false },
  [FAILURES]: { failuresEnabled: true, allEnabled: false },
  [ALL]: { failuresEnabled: true, allEnabled: true },
}

/** @param {{ failuresEnabled?: boolean, allEnabled?: boolean, allEnabledUntil?: number } | null | undefined} settings @param {number} [now] */
export function notedOf(settings, now = Date.now()) {
  if (settings?.allEnabled === true || (settings?.allEnabledUntil ?? 0) > now) return ALL
  return settings?.failuresEnabled === true ? FAILURES : NOTHING
}
