/** How much the tenant has and uses, and how much its profile allows. */
import { make, table } from './dom.js'
import { call } from './session.js'

/** @typedef {Record<string, any>} Json */
/** @typedef {readonly [member: string, most: string, text: string, page?: string]} Counted */

const HAS = /** @type {readonly Counted[]} */ ([
  ['devices', 'maxDevices', 'Devices', '/devices'],
  ['assets', 'maxAssets', 'Assets', '/assets'],
  ['customers', 'maxCustomers', 'Customers', '/customers'],
  ['users', 'maxUsers', 'Users', '/users'],
  ['dashboards', 'maxDashboards', 'Dashboards', '/dashboards'],
])
const MONTHLY = /** @type {readonly Counted[]} */ ([
  ['transportMessages', 'maxTransportMessages', 'Messages of devices'],
  ['jsExecutions', 'maxJsExecutions', 'Runs of JavaScript'],
  ['tbelExecutions', 'maxTbelExecutions', 'Runs of TBEL'],
  ['alarms', 'maxAlarms', 'Alarms raised'],
  ['emails', 'maxEmails', 'Mails sent'],
  ['sms', 'maxSms', 'SMS sent'],
])
/** Of the profile; 0 or null is no limit. */
const BOUNDS = /** @type {readonly (readonly [string, string])[]} */ ([
  ['maxDebugModeDurationMinutes', 'Minutes in which a node notes all its messages'],
  ['maxResourceSize', 'Bytes of a file that is uploaded'],
  ['maxArgumentsPerCF', 'Arguments of a calculated field'],
  ['maxDataPointsPerRollingArg', 'Points in a window of a calculated field'],
])
/** From this part on it is said that a limit is near. */
const NEAR = 0.9

/** @param {import('./pages.js').Place} place */
export async function usagePage({ main }) {
  const [usage, params] = await Promise.all([call('GET', '/api/usage'), call('GET', '/api/system/params')])
  const near = [...HAS, ...MONTHLY].filter(([member, most]) => isNear(usage[member], usage[most]))
  main.replaceChildren(
    make('h1', {}, 'Usage and limits'),
    make('p', {}, 'Limits are set by the profile of this tenant: the system administrator changes them.'),
    ...near.map(([member, most, text]) =>
      make('p', { class: 'wrong', role: 'alert' }, `${text}: ${usedText(usage[member], usage[most])}.`),
    ),
    table(
      'What there is',
      ['What', 'Present', 'Allowed', 'Used'],
      HAS.map((each) => row(usage, each)),
    ),
    table(
      'This month',
      ['What', 'So far', 'Allowed', 'Used'],
      MONTHLY.map((each) => row(usage, each)),
    ),
    table(
      'Other limits',
      ['What', 'Limit'],
      BOUNDS.map(([member, text]) => [text, allowedText(params[member])]),
    ),
  )
}

/** @param {Json} usage @param {Counted} counted @returns {import('./dom.js').Child[]} */
function row(usage, [member, most, text, page]) {
  const used = Number(usage[member] ?? 0)
  const allowed = Number(usage[most] ?? 0)
  const name = page === undefined ? text : make('a', { href: page }, text)
  return [name, used.toLocaleString(), allowedText(allowed), allowed > 0 ? gauge(text, used, allowed) : '']
}

/** @param {string} text @param {number} used @param {number} allowed */
function gauge(text, used, allowed) {
  const share = `${Math.round((100 * used) / allowed)} %`
  const limits = { min: '0', max: String(allowed), high: String(allowed * NEAR), optimum: '0' }
  return make('meter', { ...limits, value: String(used), 'aria-label': `${text}: ${share}`, title: share }, share)
}

/** @param {number} used @param {number} allowed */
export function isNear(used, allowed) {
  return allowed > 0 && used >= allowed * NEAR
}

/** @param {number} used @param {number} allowed */
function usedText(used, allowed) {
  const what = `${used.toLocaleString()} of ${allowed.toLocaleString()}`
  return used >= allowed ? `${what}: no more is taken` : `${what}: the limit is near`
}

/** @param {number | null | undefined} limit */
function allowedText(limit) {
  return limit === null || limit === undefined || limit <= 0 ? 'no limit' : limit.toLocaleString()
}
