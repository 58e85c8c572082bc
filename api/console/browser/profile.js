/** One device profile: rule chain, queue and dashboard of its devices, their alarms, and all else as JSON. */
import { alarmRules } from './alarm-rules.js'
import { calculatedFieldsOf } from './calculated-fields.js'
import { choice, field, form, make, textArea } from './dom.js'
import { dashboardsOffered, packagesOffered, queuesOffered, ruleChainsOffered } from './offered.js'
import { parsedObject } from './parsed-object.js'
import { idIn, idOf, profileActs, sharedRows } from './profile-form.js'
import { TRANSPORTS } from './profiles.js'
import { call } from './session.js'

/** @typedef {Record<string, any>} Json */

const PROVISIONS = /** @type {readonly (readonly [string, string])[]} */ ([
  ['DISABLED', 'no'],
  ['ALLOW_CREATE_NEW_DEVICES', 'yes: who knows key and secret makes new devices'],
  ['CHECK_PRE_PROVISIONED_DEVICES', 'yes: devices that are there get their credentials'],
  ['X509_CERTIFICATE_CHAIN', 'by a certificate of an authority'],
])

/** @param {import('./pages.js').Place} place */
export async function profilePage({ main, id }) {
  const path = `/api/deviceProfile/${encodeURIComponent(id)}`
  const [profile, chains, dashboards, queues, firmware, software] = await Promise.all([
    call('GET', path),
    ruleChainsOffered(),
    dashboardsOffered(),
    queuesOffered(),
    packagesOffered(id, 'FIRMWARE'),
    packagesOffered(id, 'SOFTWARE'),
  ])
  /** @type {Json} */
  let present = profile
  const heading = make('h1', { tabindex: '-1' }, profile.name)
  const standing = make('p', {})
  const shared = sharedForm(present, { chains, dashboards, queues, firmware, software }, save)
  const data = dataForm(present, async (change) => {
    await save(change)
    data.fill(present)
  })
  const acts = profileActs({
    path,
    list: '/profiles',
    members: 'Devices',
    present: () => present,
    onDefault(profile) {
      present = profile
      fill()
      heading.focus()
    },
  })
  main.replaceChildren(
    make('p', {}, make('a', { href: '/profiles' }, 'Device profiles')),
    heading,
    standing,
    shared,
    make('h2', {}, 'Alarms'),
    alarmRules({ entityType: 'DEVICE_PROFILE', id: present['id'].id }),
    make('h2', {}, 'Calculated fields'),
    calculatedFieldsOf({ entityType: 'DEVICE_PROFILE', id: present['id'].id }),
    make('h2', {}, 'Transport, provisioning and all else'),
    data.element,
    make('h2', {}, 'More'),
    acts.element,
  )
  fill()
  data.fill(present)

  /** @param {Json} change */
  async function save(change) {
    present = await call('POST', '/api/deviceProfile', { ...present, ...change })
    fill()
  }

  function fill() {
    heading.textContent = present['name']
    const transport = TRANSPORTS.find(([type]) => type === present['transportType'])?.[1] ?? present['transportType']
    const isDefault = present['default'] === true
    standing.textContent = `Its devices speak ${transport}.${isDefault ? ' Devices made without a profile get this one.' : ''}`
    acts.fill()
  }
}

/**
 * @param {Json} profile
 * @param {Record<'chains' | 'dashboards' | 'queues' | 'firmware' | 'software', import('./offered.js').Offered>} offered
 * @param {(change: Json) => Promise<void>} save
 */
function sharedForm(profile, { firmware, software, ...offered }, save) {
  const shared = sharedRows(profile, offered)
  const loaded = choice('Firmware', 'firmware', [['', 'none'], ...firmware], idIn(profile['firmwareId']))
  const installed = choice('Software', 'software', [['', 'none'], ...software], idIn(profile['softwareId']))
  return form('Save', [...shared.rows, loaded.row, installed.row], async () => {
    await save({
      ...shared.change(),
      firmwareId: idOf('OTA_PACKAGE', loaded.input.value),
      softwareId: idOf('OTA_PACKAGE', installed.input.value),
    })
    return 'Saved: messages go this way from now on.'
  })
}

/** @param {Json} profile @param {(change: Json) => Promise<void>} save */
function dataForm(profile, save) {
  const provision = choice('Devices come by themselves', 'provision', PROVISIONS, profile['provisionType'])
  const key = field('Provisioning key', { name: 'key', autocomplete: 'off' })
  const data = textArea('Settings, as JSON', 'data', '')
  const element = form('Save the settings', [provision.row, key.row, data.row], async () => {
    await save({
      provisionType: provision.input.value,
      provisionDeviceKey: key.input.value.trim() === '' ? null : key.input.value.trim(),
      profileData: withProvision(parsedObject(data.input.value), provision.input.value),
    })
    return 'Saved: devices that are connected have it at once.'
  })
  return {
    element,
    fill: (/** @type {Json} */ present) => {
      key.input.value = present['provisionDeviceKey'] ?? ''
      data.input.value = JSON.stringify(present['profileData'], null, 2)
    },
  }
}

/** The way is said twice in a profile; the choice counts. @param {Json} data @param {string} type @returns {Json} */
function withProvision(data, type) {
  return { ...data, provisionConfiguration: { ...data['provisionConfiguration'], type } }
}
