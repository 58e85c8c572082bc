/** How mails go out: the server, and the proxy before it where there is one. */
import { choice, form, hide, make } from './dom.js'
import { call } from './session.js'
import { passwordField, textField } from './setting-fields.js'

/** @typedef {Record<string, any>} Json */

/** @param {Json} value */
export function mailForm(value) {
  const from = textField('Sender', 'mailFrom', value)
  const host = textField('Server', 'smtpHost', value)
  const port = textField('Port', 'smtpPort', value, { inputmode: 'numeric' })
  const timeout = textField('Timeout, milliseconds', 'timeout', value, { inputmode: 'numeric' })
  const user = textField('User name', 'username', value, { required: false })
  const password = passwordField('Password', 'password')
  const used = value['smtpProtocol'] === 'smtps' ? 'smtps' : value['enableTls'] === true ? 'starttls' : 'smtp'
  const way = choice(
    'Encryption',
    'way',
    [
      ['smtp', 'None (SMTP)'],
      ['starttls', 'STARTTLS'],
      ['smtps', 'TLS (SMTPS)'],
    ],
    used,
  )
  const proxy = proxyFields(value)
  const body = () => ({
    key: 'mail',
    jsonValue: {
      ...value,
      mailFrom: from.input.value.trim(),
      smtpHost: host.input.value.trim(),
      smtpPort: port.input.value.trim(),
      timeout: timeout.input.value.trim(),
      username: user.input.value,
      smtpProtocol: way.input.value === 'smtps' ? 'smtps' : 'smtp',
      enableTls: way.input.value === 'starttls',
      ...password.given(),
      ...proxy.given(),
    },
  })
  const rows = [from.row, host.row, port.row, way.row, user.row, password.row, timeout.row, proxy.tick, proxy.rows]
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

/** @param {Json} value */
function proxyFields(value) {
  const isUsed = make('input', { type: 'checkbox', name: 'enableProxy', checked: value['enableProxy'] === true })
  const host = textField('Proxy', 'proxyHost', value)
  const port = textField('Port of the proxy', 'proxyPort', value, { inputmode: 'numeric' })
  const user = textField('User name for the proxy', 'proxyUser', value, { required: false })
  const password = passwordField('Password for the proxy', 'proxyPassword')
  const rows = make('div', {}, host.row, port.row, user.row, password.row)
  const show = () => hide(rows, !isUsed.checked)
  isUsed.addEventListener('change', show)
  show()
  const tick = make('label', { class: 'tick' }, isUsed, 'Through an HTTP proxy')
  const given = () =>
    isUsed.checked
      ? {
          enableProxy: true,
          proxyHost: host.input.value.trim(),
          proxyPort: port.input.value.trim(),
          proxyUser: user.input.value,
          ...password.given(),
        }
      : { enableProxy: false }
  return { tick, rows, given }
}
