/** What device and asset profiles have in common: a form of the members that both have, and the acts on them. */
import { asDefault } from './default-profile.js'
import { confirmed, dangerous } from './dialog.js'
import { choice, field, make } from './dom.js'
import { call } from './session.js'

/** @typedef {Record<string, any>} Json */

/**
 * Name, description, and where messages go.
 * @param {Json} profile @param {Record<'chains' | 'dashboards' | 'queues', import('./offered.js').Offered>} offered
 */
export function sharedRows(profile, { chains, dashboards, queues }) {
  const name = field('Name', { name: 'name', required: true, autocomplete: 'off' })
  name.input.value = profile['name']
  const description = field('What for', { name: 'description', autocomplete: 'off' })
  description.input.value = profile['description'] ?? ''
  const chain = choice(
    'Rule chain',
    'chain',
    [['', 'the root of the tenant'], ...chains],
    idIn(profile['defaultRuleChainId']),
  )
  const queue = choice(
    'Queue',
    'queue',
    [['', 'Main'], ...queues.filter(([each]) => each !== 'Main')],
    profile['defaultQueueName'] ?? '',
  )
  const dashboard = choice('Dashboard', 'dashboard', [['', 'none'], ...dashboards], idIn(profile['defaultDashboardId']))
  return {
    rows: [name, description, chain, queue, dashboard].map(({ row }) => row),
    change: () => ({
      name: name.input.value.trim(),
      description: description.input.value.trim(),
      defaultRuleChainId: idOf('RULE_CHAIN', chain.input.value),
      defaultQueueName: queue.input.value === '' ? null : queue.input.value,
      defaultDashboardId: idOf('DASHBOARD', dashboard.input.value),
    }),
  }
}

/**
 * "Make it the default" and "Delete", which the default one has not.
 * @param {object} parts
 * @param {string} parts.path of the calls
 * @param {string} parts.list the page to go to when it is deleted
 * @param {string} parts.members whose profile it is, such as `Devices`
 * @param {() => Json} parts.present @param {(profile: Json) => void} parts.onDefault
 */
export function profileActs({ path, list, members, present, onDefault }) {
  const first = make('button', { type: 'button', click: () => void makeDefault() }, 'Make it the default')
  const remove = dangerous(
    'Delete the profile',
    () => `Delete "${present()['name']}" for ever`,
    async () => {
      await call('DELETE', path)
      location.assign(list)
    },
  )
  return {
    element: make('p', { class: 'acts' }, first, remove),
    fill: () => (first.hidden = remove.hidden = present()['default'] === true),
  }

  async function makeDefault() {
    const text = `${members} that are made without a profile get it from now on. Those that are there keep theirs.`
    let made = present()
    const act = async () => (made = asDefault(made, await call('POST', `${path}/default`)))
    if (await confirmed(`Make "${made['name']}" the default?`, text, 'Make it the default', act)) onDefault(made)
  }
}

/** @param {Json | null} id */
export function idIn(id) {
  return id?.['id'] ?? ''
}

/** @param {string} entityType @param {string} id */
export function idOf(entityType, id) {
  return id === '' ? null : { entityType, id }
}
