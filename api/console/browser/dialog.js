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
 * Asks, and does it. What goes wrong is said in the dialog, which stays open. The way back has the focus: Enter alone does nothing.
 * @param {string} title @param {string} text @param {string} action @param {() => Promise<unknown>} act
 * @param {{ back?: string, isDanger?: boolean }} [look] `back`: the text of the way back
 * @returns {Promise<boolean>} whether it was done
 */
export function confirmed(title, text, action, act, { back = 'Cancel', isDanger = false } = {}) {
  return new Promise((resolve) => {
    const told = make('p', { role: 'status' })
    const button = make('button', { type: 'button', ...(isDanger ? { class: 'danger' } : {}) }, action)
    const cancel = make('button', { type: 'button', autofocus: true, click: () => close() }, back)
    const question = make('p', { id: 'asked' }, text)
    const { element, close } = dialog(title, [question, told, make('p', { class: 'acts' }, cancel, button)])
    // Read out with the title: the focus is on a button.
    element.setAttribute('aria-describedby', question.id)
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

/**
 * A button for what cannot be taken back: it asks first.
 * @param {string} title of the button, and with a question mark of the question @param {string | (() => string)} action what the second button says, such as `Delete "pump 7" for ever`; a function where the name may change
 * @param {() => Promise<unknown>} act
 * @param {{ of?: string, text?: string, done?: () => unknown }} [more] `of`: what a screen reader says beside the text, where there are several; `done`: after the dialog, where the button is gone
 */
export function dangerous(title, action, act, { of = '', text = 'This cannot be undone.', done } = {}) {
  const click = async () => {
    const look = { back: 'No, keep it', isDanger: true }
    const named = typeof action === 'string' ? action : action()
    if (await confirmed(`${title}?`, text, named, act, look)) done?.()
  }
  const name = of === '' ? {} : { 'aria-label': `${title}: ${of}` }
  return make('button', { type: 'button', ...name, click: () => void click() }, title)
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
