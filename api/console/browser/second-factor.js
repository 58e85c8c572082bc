/** The own second factors: set up with a code, removed. */
import { field, form, make, messageOf, tell } from './dom.js'
import { call } from './session.js'

/** @typedef {Record<string, any>} Json */
/** @typedef {'TOTP' | 'SMS' | 'EMAIL' | 'BACKUP_CODE'} Kind */

const CONFIG = '/api/2fa/account/config'
const NAMES = /** @type {Readonly<Record<string, string>>} */ ({
  TOTP: 'An app that makes codes',
  SMS: 'Codes to a phone',
  EMAIL: 'Codes by mail',
  BACKUP_CODE: 'Backup codes on paper',
})

export async function secondFactorSettings() {
  const element = make('div')
  /** @type {string[]} */
  const offered = await call('GET', '/api/2fa/providers')
  if (offered.length === 0) {
    element.append(make('p', {}, 'This server offers none: its system administrator can, under "Settings".'))
    return element
  }
  const told = make('p', { role: 'status' })
  const list = make('div')
  element.append(list, told)
  await show()
  return element

  async function show() {
    const configs = (await call('GET', '/api/2fa/account/settings'))?.configs ?? {}
    list.replaceChildren(
      ...offered.map((type) => (configs[type] === undefined ? setUp(type) : present(type, configs[type]))),
    )
  }

  /** @param {string} type @param {Json} config */
  function present(type, config) {
    const left =
      type === 'BACKUP_CODE' && config['codesLeft'] !== undefined ? `, ${config['codesLeft']} codes are left` : ''
    const click = async () => {
      try {
        await call('DELETE', `${CONFIG}?providerType=${type}`)
        await show()
        tell(told, `${NAMES[type] ?? type}: removed.`)
      } catch (error) {
        tell(told, messageOf(error), true)
      }
    }
    const remove = make('button', { type: 'button', 'aria-label': `Remove: ${NAMES[type] ?? type}`, click }, 'Remove')
    return make('p', {}, `${NAMES[type] ?? type}: set up${left}. `, remove)
  }

  /** @param {string} type */
  function setUp(type) {
    const inside = make('div')
    const details = make('details', {}, make('summary', {}, `Set up: ${NAMES[type] ?? type}`), inside)
    details.addEventListener('toggle', () => {
      if (!details.open || inside.childElementCount > 0) return
      steps(type).then(
        (nodes) => inside.replaceChildren(...nodes),
        (error) => inside.replaceChildren(make('p', { role: 'alert', class: 'wrong' }, messageOf(error))),
      )
    })
    return details
  }

  /** @param {string} type @returns {Promise<Element[]>} */
  async function steps(type) {
    if (type === 'TOTP') return app()
    if (type === 'BACKUP_CODE') return backup()
    return type === 'SMS' ? phone() : mail()
  }

  async function app() {
    /** @type {Json} */
    const config = await call('POST', `${CONFIG}/generate?providerType=TOTP`)
    const { qrDrawing } = await import('./qr.js')
    const secret = new URL(config['authUrl']).searchParams.get('secret') ?? ''
    const code = qrDrawing(config['authUrl'], 'The same key as a QR code')
    return [
      ...(code === undefined ? [] : [make('p', {}, 'Scan this with the app:'), code]),
      make(
        'p',
        {},
        'Or give it this key by hand, or open ',
        make('a', { href: config['authUrl'] }, 'the link'),
        ' on the device that has the app:',
      ),
      make('pre', {}, secret.replaceAll(/(.{4})/g, '$1 ').trim()),
      confirmation(config),
    ]
  }

  function mail() {
    const email = field('E-mail', { type: 'email', name: 'factorEmail', required: true, autocomplete: 'email' })
    return sending('Mail me a code', email.row, () => ({ providerType: 'EMAIL', email: email.input.value.trim() }))
  }

  function phone() {
    const number = field('Phone, such as +15005550006', {
      ...{ type: 'tel', name: 'factorPhone', required: true, autocomplete: 'tel' },
    })
    // Written with spaces, as people do.
    return sending('Text me a code', number.row, () => ({
      providerType: 'SMS',
      phoneNumber: number.input.value.replaceAll(/[\s()-]/g, ''),
    }))
  }

  /** @param {string} action @param {HTMLElement} row @param {() => Json} configuration */
  function sending(action, row, configuration) {
    const next = make('div')
    const asking = form(action, [row], async () => {
      const config = configuration()
      await call('POST', `${CONFIG}/submit`, config)
      next.replaceChildren(confirmation(config))
      return 'A code is on its way.'
    })
    return [asking, next]
  }

  async function backup() {
    /** @type {Json} */
    const config = await call('POST', `${CONFIG}/generate?providerType=BACKUP_CODE`)
    const keep = form('I have written them down', [], async () => {
      await call('POST', CONFIG, config)
      await show()
    })
    return [
      make('p', {}, 'Each is good once, where the other factors are not at hand:'),
      make('pre', {}, config['codes'].join('\n')),
      keep,
    ]
  }

  /** @param {Json} config */
  function confirmation(config) {
    const code = field('Code', { name: 'code', required: true, autocomplete: 'one-time-code', inputmode: 'numeric' })
    return form('Confirm', [code.row], async () => {
      await call('POST', `${CONFIG}?verificationCode=${encodeURIComponent(code.input.value.trim())}`, config)
      await show()
      tell(told, 'From now on a password alone is not enough.')
    })
  }
}
