/** What the system administrator sets for all: where people reach the server, how mails go out, second factors. */
import { field, form, make } from './dom.js'
import { call } from './session.js'

/** @typedef {Record<string, any>} Json */

/** @param {import('./pages.js').Place} place */
export async function settingsPage({ main }) {
  const [general, mail, factors] = await Promise.all([
    call('GET', '/api/admin/settings/general'),
    call('GET', '/api/admin/settings/mail'),
    call('GET', '/api/2fa/settings'),
  ])
  main.replaceChildren(
    make('h1', {}, 'Settings'),
    make('h2', {}, 'Address'),
    addressForm(general.jsonValue),
    make('h2', {}, 'Mail'),
    mailForm(mail.jsonValue),
    make('h2', {}, 'Second factors'),
    factorForm(factors ?? {}),
  )
}

/** @param {Json} value */
function addressForm(value) {
  const address = field('Where people reach this server', { name: 'baseUrl', type: 'url', required: true })
  address.input.value = value['baseUrl'] ?? ''
  return form('Save the address', [address.row], async () => {
    await call('POST', '/api/admin/settings', {
      key: 'general',
      jsonValue: { ...value, baseUrl: address.input.value.trim() },
    })
    return 'Saved: links in mails lead there.'
  })
}

/** @param {Json} value */
function mailForm(value) {
  const from = text('Sender', 'mailFrom', value)
  const host = text('Server', 'smtpHost', value)
  const port = text('Port', 'smtpPort', value, { inputmode: 'numeric' })
  const timeout = text('Timeout, milliseconds', 'timeout', value, { inputmode: 'numeric' })
  const user = field('User name', { name: 'username', autocomplete: 'off' })
  user.input.value = value['username'] ?? ''
  const password = field('Password (empty: the one that is kept)', {
    name: 'password',
    type: 'password',
    autocomplete: 'new-password',
  })
  const way = make(
    'select',
    { name: 'way' },
    make('option', { value: 'smtp' }, 'None (SMTP)'),
    make('option', { value: 'starttls' }, 'STARTTLS'),
    make('option', { value: 'smtps' }, 'TLS (SMTPS)'),
  )
  way.value = value['smtpProtocol'] === 'smtps' ? 'smtps' : value['enableTls'] === true ? 'starttls' : 'smtp'
  const body = () => ({
    key: 'mail',
    jsonValue: {
      ...value,
      mailFrom: from.input.value.trim(),
      smtpHost: host.input.value.trim(),
      smtpPort: port.input.value.trim(),
      timeout: timeout.input.value.trim(),
      username: user.input.value,
      smtpProtocol: way.value === 'smtps' ? 'smtps' : 'smtp',
      enableTls: way.value === 'starttls',
      ...(password.input.value === '' ? {} : { password: password.input.value }),
    },
  })
  const rows = [from.row, host.row, port.row, make('label', {}, 'Encryption', way), user.row, password.row, timeout.row]
  const saving = form('Save the mail settings', rows, async () => {
    await call('POST', '/api/admin/settings', body())
    return 'Saved.'
  })
  const testing = form('Send me a test mail', [], async () => {
    await call('POST', '/api/admin/settings/testMail', body())
    return 'The mail server took it: look whether it comes.'
  })
  return make('div', {}, saving, testing)
}

/** @param {string} label @param {string} name @param {Json} value @param {Record<string, string>} [more] */
function text(label, name, value, more = {}) {
  const made = field(label, { name, required: true, autocomplete: 'off', ...more })
  made.input.value = String(value[name] ?? '')
  return made
}

/** @param {Json} value */
function factorForm(value) {
  /** @type {Json[]} */
  const providers = value['providers'] ?? []
  const known = (/** @type {string} */ type) => providers.find(({ providerType }) => providerType === type)
  const offered = { TOTP: 'Apps that make codes', EMAIL: 'Codes by mail', BACKUP_CODE: 'Backup codes on paper' }
  const ticks = Object.entries(offered).map(([type, label]) => {
    const box = make('input', { type: 'checkbox', value: type, checked: known(type) !== undefined })
    return { type, box, row: make('label', { class: 'tick' }, box, label) }
  })
  const must = make('input', { type: 'checkbox', checked: value['enforceTwoFa'] === true })
  const rows = [
    ...ticks.map(({ row }) => row),
    make('p', {}, make('label', { class: 'tick' }, must, 'Everybody must have one')),
  ]
  return form('Save the second factors', rows, async () => {
    const chosen = ticks.filter(({ box }) => box.checked).map(({ type }) => known(type) ?? fresh(type))
    await call('POST', '/api/2fa/settings', {
      minVerificationCodeSendPeriod: 30,
      totalAllowedTimeForVerification: 3_600,
      ...value,
      providers: chosen,
      enforceTwoFa: must.checked,
    })
    return chosen.length === 0 ? 'Saved: there are none.' : 'Saved: each user sets up the own, under "Account".'
  })
}

/** @param {string} type @returns {Json} */
function fresh(type) {
  return { providerType: type, ...(type === 'TOTP' ? { issuerName: 'Millrace' } : {}) }
}
