/** By whom texts to phones go out. */
import { choice, field, form, hide, make } from './dom.js'
import { call } from './session.js'
import { passwordField, textField } from './setting-fields.js'

/** @typedef {Record<string, any>} Json */
/** @typedef {{ rows: HTMLElement[], given: () => Json }} Provider */

/** @param {Json} value */
export function smsForm(value) {
  const providers = /** @type {Readonly<Record<string, Provider>>} */ ({
    TWILIO: twilio(value),
    AWS_SNS: amazon(value),
    SMPP: centre(value),
  })
  const offered = /** @type {const} */ ([
    ['TWILIO', 'Twilio'],
    ['AWS_SNS', 'Amazon SNS'],
    ['SMPP', 'A short message centre (SMPP)'],
  ])
  const type = choice('Provider', 'smsProvider', offered, value['type'] ?? 'TWILIO')
  const parts = Object.entries(providers).map(([name, { rows }]) => ({ name, part: make('div', {}, ...rows) }))
  const show = () => parts.forEach(({ name, part }) => hide(part, name !== type.input.value))
  type.input.addEventListener('change', show)
  show()
  const settings = () => ({
    // What the form does not show stays, of the same provider.
    ...(value['type'] === type.input.value ? value : {}),
    type: type.input.value,
    ...providers[type.input.value]?.given(),
  })
  const saving = form('Save the text settings', [type.row, ...parts.map(({ part }) => part)], async () => {
    await call('POST', '/api/admin/settings', { key: 'sms', jsonValue: settings() })
    return 'Saved.'
  })
  const number = field('Phone, such as +15005550006', { type: 'tel', name: 'testNumber', required: true })
  const testing = form('Send a test text', [number.row], async () => {
    const body = { providerConfiguration: settings(), numberTo: number.input.value.trim(), message: 'Test message' }
    await call('POST', '/api/admin/settings/testSms', body)
    return 'The provider took it: look whether it comes.'
  })
  return make('div', {}, saving, testing)
}

/** @param {Json} value @returns {Provider} */
function twilio(value) {
  const from = textField('Number or id of the sender', 'numberFrom', value)
  const account = textField('Account (SID)', 'accountSid', value)
  const token = passwordField('Token', 'accountToken')
  return {
    rows: [from.row, account.row, token.row],
    given: () => ({ ...texts(from, account), ...token.given() }),
  }
}

/** @param {Json} value @returns {Provider} */
function amazon(value) {
  const key = textField('Access key', 'accessKeyId', value)
  const secret = passwordField('Secret key', 'secretAccessKey')
  const region = textField('Region', 'region', { region: 'us-east-1', ...value })
  return { rows: [key.row, secret.row, region.row], given: () => ({ ...texts(key, region), ...secret.given() }) }
}

/** @param {Json} value @returns {Provider} */
function centre(value) {
  const host = textField('Host', 'host', value)
  const port = textField('Port', 'port', { port: 2775, ...value }, { type: 'number', min: '1', max: '65535' })
  const system = textField('Log-in (system id)', 'systemId', value)
  const password = passwordField('Password', 'password')
  const versions = /** @type {const} */ ([
    ['3.4', '3.4'],
    ['3.3', '3.3'],
  ])
  const version = choice('Version of SMPP', 'protocolVersion', versions, value['protocolVersion'] ?? '3.4')
  const sender = textField('Sender (empty: the centre’s own)', 'sourceAddress', value, { required: false })
  return {
    rows: [host.row, port.row, system.row, password.row, version.row, sender.row],
    given: () => ({
      ...texts(host, system, version, sender),
      port: Number(port.input.value),
      ...password.given(),
    }),
  }
}

/** By the names of their fields. @param {...{ input: HTMLInputElement | HTMLSelectElement }} fields @returns {Json} */
function texts(...fields) {
  return Object.fromEntries(fields.map(({ input }) => [input.name, input.value.trim()]))
}
