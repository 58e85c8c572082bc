/** Alarms, the newest first, as they come: seen to, and cleared. */
import { make, messageOf, tell, timeText } from './dom.js'
import { entityLink } from './entity-link.js'
import { pagedList } from './paged.js'
import { polling, pollingIn } from './polling.js'
import { call } from './session.js'

/**
 * @typedef {object} AlarmInfo
 * @property {{ id: string }} id
 * @property {string} type
 * @property {string} severity
 * @property {{ entityType: string, id: string }} originator
 * @property {string | null} originatorName
 * @property {boolean} acknowledged
 * @property {boolean} cleared
 * @property {number} startTs
 */

const CHOICES = /** @type {const} */ ({ Active: { statusList: 'ACTIVE' }, Cleared: { statusList: 'CLEARED' }, All: {} })
/** Who watches it waits no longer for one that is new. */
const LOOK_MS = 5_000

/** @param {HTMLElement} main @param {URLSearchParams} query */
export async function alarmsPage(main, query) {
  const { elements, show, refresh } = alarmList('/api/v2/alarms', query)
  main.replaceChildren(make('h1', {}, 'Alarms'), ...elements)
  await show()
  polling(LOOK_MS, refresh)
}

/** Of one entity: of all states. @param {string} entityType @param {string} id */
export async function alarmsOf(entityType, id) {
  const { elements, show, refresh } = alarmList(`/api/v2/alarm/${entityType}/${id}`)
  await show()
  const element = make('div', {}, ...elements)
  pollingIn(element, LOOK_MS, refresh)
  return element
}

/** @param {string} path @param {URLSearchParams} [query] */
function alarmList(path, query) {
  const choice = make('select', { name: 'status' }, ...Object.keys(CHOICES).map((text) => make('option', {}, text)))
  const wanted = query === undefined ? 'All' : (query.get('show') ?? '')
  if (Object.hasOwn(CHOICES, wanted)) choice.value = wanted
  const again = make('button', { type: 'button', click: () => void list.show() }, 'Look again')
  const list = pagedList({
    caption: 'Alarms',
    heads: ['Type', 'Severity', 'Of', 'State', 'Since', 'Do'],
    cells,
    path,
    asked: () => ({ sortProperty: 'createdTime', sortOrder: 'DESC', ...chosen() }),
    kept: () => ({ show: choice.value }),
    ...(query === undefined ? {} : { query }),
  })
  choice.addEventListener('change', () => void list.turnTo(1))
  return { elements: [make('label', {}, 'Show', choice), again, list.element], show: list.show, refresh: list.refresh }

  function chosen() {
    return Object.entries(CHOICES).find(([name]) => name === choice.value)?.[1] ?? {}
  }

  /** @param {AlarmInfo} alarm */
  function cells(alarm) {
    const { originator, originatorName, type, severity, acknowledged, cleared, startTs } = alarm
    const of = entityLink(originator, originatorName ?? originator.id)
    const state = `${cleared ? 'cleared' : 'active'}, ${acknowledged ? 'acknowledged' : 'not acknowledged'}`
    const acts = [
      ...(acknowledged ? [] : [act(alarm, 'ack', 'Acknowledge')]),
      ...(cleared ? [] : [act(alarm, 'clear', 'Clear')]),
    ]
    return [type, severity.toLowerCase(), of, state, timeText(startTs), make('span', { class: 'acts' }, ...acts)]
  }

  /** @param {AlarmInfo} alarm @param {'ack' | 'clear'} step @param {string} text */
  function act({ id, type, originatorName }, step, text) {
    const click = async () => {
      try {
        await call('POST', `/api/alarm/${id.id}/${step}`)
        await list.show()
        // The button is gone with its row: the focus stays on the page.
        again.focus()
      } catch (error) {
        tell(list.told, messageOf(error), true)
      }
    }
    return make('button', { type: 'button', 'aria-label': `${text}: ${type} of ${originatorName ?? ''}`, click }, text)
  }
}
