/** What an administrator changes of a device: name, label, profile, the token by which it logs in; and its end. */
import { confirmed, dangerous } from './dialog.js'
import { choice, copyable, field, form, make } from './dom.js'
import { profilesOffered } from './offered.js'
import { call } from './session.js'

/** @typedef {Record<string, any>} Json */
/** @typedef {import('./device.js').DeviceInfo} DeviceInfo */

const TOKEN = 'ACCESS_TOKEN'

/** @param {string} deviceId @param {(device: Pick<DeviceInfo, 'name' | 'type' | 'label'>) => void} onChange */
export async function deviceSettings(deviceId, onChange) {
  const [device, profiles] = await Promise.all([call('GET', `/api/device/${deviceId}`), profilesOffered()])
  /** @type {Json & DeviceInfo} */
  let present = device
  const name = field('Name', { name: 'name', required: true, autocomplete: 'off' })
  name.input.value = device.name
  const label = field('Label', { name: 'label', autocomplete: 'off' })
  label.input.value = device.label ?? ''
  const profile = choice('Device profile', 'profile', profiles, device.deviceProfileId.id)
  const saving = form('Save', [name.row, label.row, profile.row], async () => {
    present = await call('POST', '/api/device', {
      ...present,
      name: name.input.value.trim(),
      label: label.input.value.trim() === '' ? null : label.input.value.trim(),
      deviceProfileId: { entityType: 'DEVICE_PROFILE', id: profile.input.value },
      // Of the profile that it had: the server says the new one's.
      type: null,
    })
    onChange(present)
    return 'Saved.'
  })
  const remove = dangerous(
    'Delete the device',
    () => `Delete "${present['name']}" with its values for ever`,
    async () => {
      await call('DELETE', `/api/device/${deviceId}`)
      location.assign('/devices')
    },
  )
  return make('div', {}, saving, make('h3', {}, 'Token'), await credentials(deviceId), make('h3', {}, 'Delete'), remove)
}

/** @param {string} deviceId */
async function credentials(deviceId) {
  const element = make('div')
  show(await call('GET', `/api/device/${deviceId}/credentials`))
  return element

  /** @param {Json} present */
  function show(present) {
    if (present['credentialsType'] !== TOKEN) {
      const text = `It logs in by ${present['credentialsType']}, which is changed over REST.`
      return element.replaceChildren(make('p', {}, text))
    }
    const another = make('button', { type: 'button', click: () => void renew(present) }, 'Make another token')
    element.replaceChildren(
      make('p', {}, 'Whoever knows it sends as this device:'),
      copyable(present['credentialsId'], 'the token'),
      make('p', {}, another),
    )
  }

  /** @param {Json} present */
  async function renew(present) {
    const text = 'The present one is refused at once, and the connection of the device ends: give it the new one.'
    /** @type {Json} */
    let made = present
    const act = async () => {
      const credentialsId = [...crypto.getRandomValues(new Uint8Array(10))]
        .map((byte) => byte.toString(36).padStart(2, '0'))
        .join('')
      made = await call('POST', '/api/device/credentials', { ...present, credentialsId })
    }
    if (!(await confirmed('Make another token?', text, 'Make another token', act, { isDanger: true }))) return
    show(made)
    element.querySelector('button')?.focus()
  }
}
