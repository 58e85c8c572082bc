/** Questions over the page. The browser keeps the focus inside, closes on Escape, and gives the focus back. */
import { make, messageOf, tell } from './dom.js'

/**
 * @param {string} title
 * @param {readonly (Node | string)[]} content
 * @param {readonly string[]} answers buttons beside `Cancel`
 * @returns {Promise<string | undefined>} the answer; undefined where there is none
 */
export function ask(title, content, answers) {
  return new Promise((resolve) => {
    const { element, close } = dialog(title, [
      ...content,
      make(
        'p',
        { class: 'acts' },
        ...answers.map((text) => make('button', { type: 'button', click: () => close(text) }, text)),
        make('button', { type: 'button', click: () => close() }, 'Cancel'),
      ),
    ])
    element.addEventListener('close', () => resolve(element.returnValue === '' ? undefined : element.returnValue))
  })
}

/**
 * Asks, and does it. What goes wrong is said in the dialog, which stays open.
 * @param {string} title @param {string} text @param {string} action @param {() => Promise<unknown>} act
 * @returns {Promise<boolean>} whether it was done
 */
export function confirmed(title, text, action, act) {
  return new Promise((resolve) => {
    const told = make('p', { role: 'status' })
    const button = make('button', { type: 'button' }, action)
    const cancel = make('button', { type: 'button', click: () => close() }, 'Cancel')
    const { element, close } = dialog(title, [make('p', {}, text), told, make('p', { class: 'acts' }, button, cancel)])
    let doing = Promise.resolve(false)
    button.addEventListener('click', () => {
      button.disabled = true
      doing = act()
        .then(() => {
          close('done')
          return true
        })
        .catch((error) => {
          tell(told, messageOf(error), true)
          return false
        })
        .finally(() => (button.disabled = false))
    })
    // Who leaves while it is being done sees what came of it.
    element.addEventListener('close', () => resolve(doing))
  })
}

/** Opened at once, and gone when it is closed. @param {string} title @param {readonly (Node | string)[]} content @param {string} [kind] */
export function dialog(title, content, kind = '') {
  const element = make('dialog', { 'aria-label': title, class: kind }, make('h2', {}, title), ...content)
  element.addEventListener('close', () => element.remove())
  document.body.append(element)
  element.showModal()
  const close = (/** @type {string} */ answer = '') => {
    element.close(answer)
    // The event comes later: until then its buttons would be found where the next dialog is meant.
    element.remove()
  }
  return { element, close }
}
