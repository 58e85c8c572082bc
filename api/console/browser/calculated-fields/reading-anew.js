/** Whether related entities are looked for by the clock, beside the news of relations. */
import { make } from '../dom.js'
import { durationRow } from './duration-row.js'

/** @param {Record<string, any>} before @param {string} text */
export function readingAnew(before, text) {
  const { scheduledUpdateEnabled: isOn, scheduledUpdateInterval: seconds = 60 } = before
  const box = make('input', { type: 'checkbox', name: 'scheduled', checked: isOn === true })
  const every = durationRow('Every', 'scheduledInterval', seconds, { path: 'scheduledUpdateInterval' })
  const show = () => every.hide(!box.checked)
  box.addEventListener('change', show)
  show()
  return {
    tick: make('label', { class: 'tick' }, box, text),
    every: every.element,
    /** The time stays as it was where it does not count. */
    read: () =>
      box.checked
        ? { scheduledUpdateEnabled: true, scheduledUpdateInterval: every.read() }
        : { scheduledUpdateEnabled: false },
  }
}
