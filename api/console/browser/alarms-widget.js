/** The alarms of a widget's entities, as they come: acknowledged and cleared here. */
import { filterOf, keyFiltersOf } from './aliases.js'
import { objectOf } from './board.js'
import { bareTable, make, messageOf, oncePerFrame, tell, timeText } from './dom.js'
import { call } from './session.js'
import { redrawn, spanOfWidget } from './widget-parts.js'

/** @typedef {Record<string, any>} Json */

const MAX_SHOWN = 50
const HEADS = ['Since', 'Type', 'Of', 'Severity', 'State', 'Do']

/** @param {import('./widget-parts.js').Parts} parts @returns {() => void} */
export function alarmsWidget({ around, config, body, note }) {
  const datasource = objectOf(config['alarmSource'] ?? config['datasources']?.[0])
  const found = filterOf(datasource, around.configuration, around.chosen)
  if ('reason' in found) {
    body.replaceChildren(make('p', {}, found.reason))
    return () => undefined
  }
  /** @type {Map<string, Json>} */
  const alarms = new Map()
  let total = 0
  const draw = oncePerFrame(() => {
    if (alarms.size === 0) redrawn(body, [make('p', {}, 'No alarms in this time.')])
    else redrawn(body, [bareTable(HEADS, [...alarms.values()].map(cells))])
    tell(note, total > alarms.size ? `The newest ${alarms.size} of ${total.toLocaleString()}.` : '')
  })
  const topic = around.live.follow({
    command: (cmdId) => ({ type: 'ALARM_DATA', cmdId, query: query() }),
    onFrame(frame) {
      if (frame['data']) {
        total = frame['data'].totalElements
        alarms.clear()
        for (const alarm of frame['data'].data) alarms.set(alarm.id.id, alarm)
      }
      for (const alarm of frame['update'] ?? []) if (alarms.has(alarm.id.id)) alarms.set(alarm.id.id, alarm)
      draw()
    },
    onRefused: (error) => tell(note, messageOf(error), true),
  })

  /** @returns {Json} */
  function query() {
    const { statusList, severityList, typeList, searchPropagatedAlarms } = objectOf(config['alarmFilterConfig'])
    const { isLive, startTs, endTs } = spanOfWidget(config, around)
    const time = isLive ? { timeWindow: endTs - startTs } : { startTs, endTs }
    const lists = { statusList, severityList, typeList }
    const chosen = Object.entries(lists).filter(([, list]) => Array.isArray(list) && list.length > 0)
    return {
      ...('filter' in found ? { entityFilter: found.filter } : {}),
      keyFilters: keyFiltersOf(datasource, around.configuration),
      entityFields: [],
      latestValues: [],
      alarmFields: [],
      pageLink: {
        page: 0,
        pageSize: MAX_SHOWN,
        sortOrder: { key: { type: 'ALARM_FIELD', key: 'createdTime' }, direction: 'DESC' },
        searchPropagatedAlarms: searchPropagatedAlarms === true,
        dynamic: true,
        ...time,
        ...Object.fromEntries(chosen),
      },
    }
  }

  /** @param {Json} alarm */
  function cells(alarm) {
    const { type, severity, acknowledged, cleared, startTs, originatorName, originator } = alarm
    const state = `${cleared ? 'cleared' : 'active'}, ${acknowledged ? 'acknowledged' : 'not acknowledged'}`
    const acts = [
      ...(acknowledged ? [] : [act(alarm, 'ack', 'Acknowledge')]),
      ...(cleared ? [] : [act(alarm, 'clear', 'Clear')]),
    ]
    const of = originatorName ?? originator?.id ?? ''
    return [
      timeText(startTs),
      type,
      of,
      String(severity).toLowerCase(),
      state,
      make('span', { class: 'acts' }, ...acts),
    ]
  }

  /** @param {Json} alarm @param {'ack' | 'clear'} step @param {string} text */
  function act({ id, type, originatorName }, step, text) {
    const click = () => call('POST', `/api/alarm/${id.id}/${step}`).catch((error) => tell(note, messageOf(error), true))
    return make('button', { type: 'button', 'aria-label': `${text}: ${type} of ${originatorName ?? ''}`, click }, text)
  }

  return () => topic.end('ALARM_DATA_UNSUBSCRIBE')
}
