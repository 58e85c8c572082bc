/** Elements, made of their names and what is in them. Text is always set as text, never as HTML. */

/** @typedef {Node | string} Child */

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, string | boolean | ((event: Event) => unknown)>} [properties] attributes; functions are listeners of that event
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function make(name, properties = {}, ...children) {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(properties)) {
    if (typeof value === 'function') element.addEventListener(key, value)
    else if (value === true) element.setAttribute(key, '')
    else if (value !== false) element.setAttribute(key, value)
  }
  element.append(...children)
  return element
}

/** @param {string} label @param {Record<string, string | boolean>} properties of the input */
export function field(label, properties) {
  const input = make('input', properties)
  return { input, row: make('label', {}, label, input) }
}

/**
 * A form that says what came of it: while it is sent nothing can be sent twice, and what goes wrong is read out.
 * @param {string} action the button's text
 * @param {readonly Node[]} rows
 * @param {() => Promise<string | void>} submit what it returns is shown; what it throws too
 */
export function form(action, rows, submit) {
  const button = make('button', {}, action)
  const told = make('p', { role: 'status' })
  const element = make('form', {}, ...rows, button, told)
  element.addEventListener('submit', (event) => {
    event.preventDefault()
    button.disabled = true
    tell(told, '')
    submit()
      .then((text) => tell(told, text ?? ''))
      .catch((error) => tell(told, messageOf(error), true))
      .finally(() => (button.disabled = false))
  })
  return element
}

/** @param {HTMLElement} element @param {string} text @param {boolean} [isWrong] */
export function tell(element, text, isWrong = false) {
  element.className = isWrong ? 'wrong' : ''
  element.setAttribute('role', isWrong ? 'alert' : 'status')
  element.textContent = text
}

/** @param {unknown} error */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error)
}

/**
 * @param {string} caption
 * @param {readonly string[]} heads
 * @param {readonly (readonly Child[])[]} rows the first cell of each is its head
 */
export function table(caption, heads, rows) {
  const inside = bareTable(heads, rows)
  inside.prepend(make('caption', {}, caption))
  return make('div', { class: 'wide', role: 'region', 'aria-label': caption, tabindex: '0' }, inside)
}

/** For a place that has a name and scrolls by itself. @param {readonly string[]} heads @param {readonly (readonly Child[])[]} rows */
export function bareTable(heads, rows) {
  const head = make('tr', {}, ...heads.map((text) => make('th', { scope: 'col' }, text)))
  const lines = rows.map(([first = '', ...others]) =>
    make('tr', {}, make('th', { scope: 'row' }, first), ...others.map((cell) => make('td', {}, cell))),
  )
  return make('table', {}, make('thead', {}, head), make('tbody', {}, ...lines))
}

/** Letters of a value: a page that shows megabytes again with each that comes stands still. */
const MAX_SHOWN = 2_000

/** @param {string} text */
export function shortened(text) {
  if (text.length <= MAX_SHOWN) return text
  return `${text.slice(0, MAX_SHOWN)} … (${text.length.toLocaleString()} letters)`
}

/** A text to take elsewhere, with a button that copies it. @param {string} text @param {string} of what a screen reader says that it is */
export function copyable(text, of) {
  const shown = make('pre', {}, text)
  const button = make('button', { type: 'button', 'aria-label': `Copy: ${of}`, click: () => void copy() }, 'Copy')
  const spoken = make('span', { role: 'status', class: 'spoken' })
  return make('div', { class: 'copyable' }, shown, button, spoken)

  async function copy() {
    try {
      await navigator.clipboard.writeText(text)
      say('Copied')
    } catch {
      // Browsers let only pages that are secure write there: the text is chosen, for Ctrl + C.
      getSelection()?.selectAllChildren(shown)
      say('Press Ctrl + C')
    }
  }

  /** @param {string} outcome */
  function say(outcome) {
    button.textContent = outcome
    spoken.textContent = outcome
  }
}

/** A choice of one. @param {string} label @param {string} name @param {readonly (readonly [value: string, text: string])[]} offered @param {string} [chosen] */
export function choice(label, name, offered, chosen = '') {
  const input = make('select', { name }, ...offered.map(([value, text]) => make('option', { value }, text)))
  // What is chosen and not offered any more stays so until another is chosen.
  if (chosen !== '' && !offered.some(([value]) => value === chosen))
    input.append(make('option', { value: chosen }, chosen))
  input.value = chosen
  return { input, row: make('label', {}, label, input) }
}

/** Text of several lines. @param {string} label @param {string} name @param {string} value @param {Record<string, string | boolean>} [more] */
export function textArea(label, name, value, more = {}) {
  const input = make('textarea', { name, spellcheck: 'false', autocomplete: 'off', ...more })
  input.value = value
  return { input, row: make('label', {}, label, input) }
}

/** However fast values come, a picture is made once for each that the screen shows. @param {() => void} act */
export function oncePerFrame(act) {
  let isDue = false
  return () => {
    if (isDue) return
    isDue = true
    requestAnimationFrame(() => {
      isDue = false
      act()
    })
  }
}

/** As this browser's people write times. @param {number} ts */
export function timeText(ts) {
  return new Date(ts).toLocaleString()
}

/** What is hidden is not asked for: else a browser sends no form while a field that nobody sees breaks its rules, without a word. @param {HTMLElement} element @param {boolean} isHidden */
export function hide(element, isHidden) {
  element.hidden = isHidden
  // A set keeps for each field in it whether that is hidden by itself.
  if (element instanceof HTMLFieldSetElement) element.disabled = isHidden
  else
    for (const each of element.querySelectorAll('input, select, textarea, button'))
      each.toggleAttribute('disabled', isHidden)
}
