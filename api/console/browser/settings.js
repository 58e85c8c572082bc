/** What the system administrator sets for all: where people reach the server, how mails and texts go out, second factors. */
import { field, form, make } from './dom.js'
import { mailForm } from './mail-settings.js'
import { call } from './session.js'
import { smsForm } from './sms-settings.js'

/** @typedef {Record<string, any>} Json */

/** @param {import('./pages.js').Place} place */
export async function settingsPage({ main }) {
  const [general, mail, { smsEnabled }, factors] = await Promise.all([
    call('GET', '/api/admin/settings/general'),
    call('GET', '/api/admin/settings/mail'),
    call('GET', '/api/admin/featuresInfo'),
    call('GET', '/api/2fa/settings'),
  ])
  const sms = smsEnabled ? await call('GET', '/api/admin/settings/sms') : { jsonValue: {} }
  main.replaceChildren(
    make('h1', {}, 'Settings'),
    make('h2', {}, 'Address'),
    addressForm(general.jsonValue),
    make('h2', {}, 'Mail'),
    mailForm(mail.jsonValue),
    make('h2', {}, 'Text messages'),
    smsForm(sms.jsonValue),
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
function factorForm(value) {
  /** @type {Json[]} */
  const providers = value['providers'] ?? []
  const known = (/** @type {string} */ type) => providers.find(({ providerType }) => providerType === type)
  const offered = {
    TOTP: 'Apps that make codes',
    SMS: 'Codes to phones',
    EMAIL: 'Codes by mail',
    BACKUP_CODE: 'Backup codes on paper',
  }
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
  if (type === 'TOTP') return { providerType: type, issuerName: 'Millrace' }
  if (type === 'SMS') return { providerType: type, smsVerificationMessageTemplate: 'Verification code: ${code}' }
  return { providerType: type }
}
