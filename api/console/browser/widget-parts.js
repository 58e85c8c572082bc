/** What the kinds of widgets share: where they are drawn, of which time, and that a drawing anew takes nobody's place away. */
import { objectOf } from './board.js'
import { spanOf } from './time-window.js'

/** @typedef {Record<string, any>} Json */
/**
 * @typedef {object} Surroundings
 * @property {import('./live.js').Live} live
 * @property {Json} configuration of the dashboard
 * @property {import('./aliases.js').Chosen} [chosen]
 * @property {() => Json | undefined} window that the dashboard shows
 */
/** @typedef {{ placed: import('./board.js').Placed, around: Surroundings, config: Json, body: HTMLElement, note: HTMLElement, tools: HTMLElement }} Parts */

/** The window of the widget itself, or of the dashboard. @param {Json} config @param {Surroundings} around */
export function spanOfWidget(config, around) {
  const own = config['useDashboardTimewindow'] === false ? objectOf(config['timewindow']) : undefined
  return spanOf(own ?? around.window(), Date.now())
}

/** Who stands on a link or button stays there. @param {HTMLElement} body @param {readonly Node[]} nodes */
export function redrawn(body, nodes) {
  const at = document.activeElement
  const mark =
    at !== body && body.contains(at) ? (at?.getAttribute('aria-label') ?? at?.getAttribute('href')) : undefined
  body.replaceChildren(...nodes)
  if (mark === undefined || mark === null) return
  const there = [...body.querySelectorAll('a, button')].find(
    (each) => each.getAttribute('aria-label') === mark || each.getAttribute('href') === mark,
  )
  if (there instanceof HTMLElement) there.focus()
  else body.focus()
}
