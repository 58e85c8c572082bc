/** One rule chain, drawn and edited. */
import { make, messageOf, tell } from '../dom.js'
import { call } from '../session.js'
import { chooseComponent } from './add-node.js'
import { canvas } from './canvas.js'
import { catalogueOf, readComponents } from './catalogue.js'
import { connect } from './connecting.js'
import { downloadChain } from './download.js'
import { findingsList } from './findings.js'
import { freePlace } from './geometry.js'
import { graphOf, nodeOf, tidied, withChange, withLabels, withNode, withoutNode } from './graph.js'
import { followChain } from './inside.js'
import { linkPanel } from './link-panel.js'
import { nodePanel } from './node-panel.js'
import { save } from './saving.js'
import { editorState } from './state.js'

const MAX_CHAINS = 1_000

/** @param {HTMLElement} main @param {string} chainId */
export async function ruleChainPage(main, chainId) {
  const [chain, metadata, components, chains, queues] = await Promise.all([
    call('GET', `/api/ruleChain/${chainId}`),
    call('GET', `/api/ruleChain/${chainId}/metadata`),
    readComponents(),
    call('GET', `/api/ruleChains?pageSize=${MAX_CHAINS}&page=0&sortProperty=name&sortOrder=ASC`),
    call('GET', `/api/queues?serviceType=TB_RULE_ENGINE&pageSize=${MAX_CHAINS}&page=0`),
  ])
  const catalogue = catalogueOf(components)
  const state = editorState(graphOf(metadata), metadata.version)
  const told = make('p', { role: 'status' })
  const side = make('aside', { 'aria-label': 'What is chosen' })
  const findings = findingsList((index) => {
    const key = state.base().nodes[index]?.key
    if (key === undefined || nodeOf(state.graph(), key) === undefined) return
    state.select({ node: key })
    panel?.focus()
  })
  const say = (/** @type {string} */ text, isWrong = false) => tell(told, text, isWrong)
  const savedIds = () => state.graph().nodes.flatMap(({ id }) => id?.id ?? [])
  const tenantId = chain.tenantId.id
  const inside = followChain(chainId, tenantId, savedIds, () => {
    draw()
    panel?.refreshFigures()
  })
  /** @type {{ element: HTMLElement, refresh: () => void, refreshFigures: () => void, focus: () => void, focusConnecting: () => void } | undefined} */
  let panel
  const drawing = canvas({
    catalogue,
    select: state.select,
    open(key) {
      state.select({ node: key })
      panel?.focus()
    },
    move: (key, { x, y }) =>
      state.change(withChange(state.graph(), key, { x: Math.round(x), y: Math.round(y) }), `${key} move`),
    connect(from, to) {
      if (from === 'input') {
        state.change({ ...state.graph(), first: to })
        return say(`Messages begin at "${nodeOf(state.graph(), to)?.name ?? ''}".`)
      }
      void connect(state, catalogue, from, to).then(say)
    },
    beginConnecting(key) {
      state.select({ node: key })
      panel?.focusConnecting()
    },
    remove,
  })

  const button = (/** @type {string} */ text, /** @type {() => unknown} */ click, keys = '') =>
    make(
      'button',
      {
        type: 'button',
        click,
        ...(keys === '' ? {} : { 'aria-keyshortcuts': keys, title: keys.replace('Control', 'Ctrl') }),
      },
      text,
    )
  const saving = button('Save', () => void saveNow(), 'Control+S')
  const undo = button('Undo', state.undo, 'Control+Z')
  const redo = button('Redo', state.redo, 'Control+Y')
  const bar = make(
    'div',
    { class: 'bar', role: 'toolbar', 'aria-label': 'Rule chain' },
    ...[saving, undo, redo, button('Add a node', () => void add())],
    ...[
      button('Tidy up', () => (state.change(tidied(state.graph())), drawing.fit())),
      button('Zoom in', drawing.zoomIn),
      button('Zoom out', drawing.zoomOut),
      button('Show all', drawing.fit),
    ],
    button('Export', () => void downloadChain(chainId).catch((error) => say(messageOf(error), true))),
  )

  const unsaved = make('span', { class: 'mark' }, 'not saved')

  const draw = () => {
    drawing.draw(state.graph(), state.selected(), inside.seen())
    enable(saving, state.isChanged())
    enable(undo, state.mayUndo())
    enable(redo, state.mayRedo())
    unsaved.hidden = !state.isChanged()
  }

  const choose = () => {
    const selected = state.selected()
    const node = selected !== undefined && 'node' in selected ? nodeOf(state.graph(), selected.node) : undefined
    const close = () => {
      state.select(undefined)
      if (node !== undefined) drawing.focusNode(node.key)
    }
    const copy = (/** @type {number} */ key) => {
      const copied = nodeOf(state.graph(), key)
      if (copied !== undefined) place({ ...copied, id: undefined, name: `${copied.name} (copy)` }, copied)
    }
    if (node !== undefined)
      panel = nodePanel(
        {
          state,
          catalogue,
          chains: chains.data,
          queues: queueNames(queues),
          tenantId,
          inside,
          say,
          remove: (key) => remove({ node: key }),
          copy,
          close,
        },
        node,
      )
    else if (selected !== undefined && 'from' in selected)
      panel = linkPanel({ state, catalogue, say, close, remove }, selected)
    else panel = undefined
    side.replaceChildren(panel?.element ?? nothingChosen())
  }

  state.listen((change) => {
    if (change === 'selected' || change === 'replaced') choose()
    else if (change === 'graph') panel?.refresh()
    if (change !== 'mistakes') draw()
  })

  async function add() {
    const component = await chooseComponent(components)
    if (component === undefined) return
    const { clazz, name, configurationVersion, configurationDescriptor } = component
    const { defaultConfiguration } = configurationDescriptor.nodeDefinition
    const selected = state.selected()
    const beside = selected !== undefined && 'node' in selected ? nodeOf(state.graph(), selected.node) : undefined
    const settings = { debugSettings: null, singletonMode: false, queueName: null, additionalInfo: null }
    place(
      { id: undefined, type: clazz, name, configurationVersion, configuration: defaultConfiguration, ...settings },
      beside,
    )
    const isFirst = state.graph().nodes.length === 1
    say(`Added "${name}". ${isFirst ? 'Messages begin here.' : 'Connect it, or it gets no messages.'}`)
  }

  /** @param {Omit<import('./graph.js').DrawnNode, 'key' | 'x' | 'y'>} node @param {import('./geometry.js').Point | undefined} beside */
  function place(node, beside) {
    const middle = drawing.middle()
    const wanted = beside === undefined ? middle : { x: beside.x + 310, y: beside.y }
    const made = withNode(state.graph(), { ...node, ...freePlace(state.graph().nodes, wanted) })
    state.change(made.graph)
    state.select({ node: made.key })
    panel?.focus()
  }

  /** @param {import('./canvas.js').Selected} what */
  function remove(what) {
    if (what === undefined) return
    if ('from' in what) return state.change(withLabels(state.graph(), what.from, what.to, []))
    const name = nodeOf(state.graph(), what.node)?.name ?? ''
    state.change(withoutNode(state.graph(), what.node))
    say(`Deleted "${name}". Undo brings it back.`)
    undo.focus()
  }

  async function saveNow() {
    if (saving.getAttribute('aria-busy') === 'true' || !state.isChanged()) return
    const mistake = state.mistake()
    if (mistake !== undefined) {
      state.select({ node: mistake.key })
      const wrong = side.querySelector('[aria-invalid=true]')
      if (wrong instanceof HTMLElement) wrong.focus()
      return say(`Not saved. "${nodeOf(state.graph(), mistake.key)?.name ?? ''}": ${mistake.text}`, true)
    }
    saving.setAttribute('aria-busy', 'true')
    say('Saving …')
    try {
      const isSaved = await save(state, chain)
      say(isSaved ? 'Saved: it runs so from now on.' : 'Not saved.', !isSaved)
      if (!isSaved) return
      inside.again()
      void check()
    } catch (error) {
      say(`Not saved. ${messageOf(error)}`, true)
    } finally {
      saving.removeAttribute('aria-busy')
    }
  }

  let checks = 0

  /** Saves go on beside it. */
  async function check() {
    const own = ++checks
    const { nodes } = state.base()
    const found = await call('GET', `/api/ruleChain/${chainId}/findings`).catch((error) => [
      { severity: 'warning', nodeIndex: null, text: `It could not be checked: ${messageOf(error)}` },
    ])
    // Of a save that another one followed it says nothing any more.
    if (own === checks) findings.show(found, nodes)
  }

  addEventListener('beforeunload', (event) => {
    if (state.isChanged()) event.preventDefault()
  })
  addEventListener('keydown', (event) => {
    if (document.querySelector('dialog[open]') !== null) return
    const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea, select')
    if (pressed(event, isTyping)) event.preventDefault()
  })

  /** @param {KeyboardEvent} event @param {boolean} isTyping @returns {boolean} whether it meant something */
  function pressed({ key, ctrlKey, metaKey, shiftKey }, isTyping) {
    const isCommand = ctrlKey || metaKey
    const letter = key.toLowerCase()
    if (isCommand && letter === 's') void saveNow()
    // In a field the browser steps back over letters.
    else if (isCommand && !isTyping && (letter === 'y' || (letter === 'z' && shiftKey))) state.redo()
    else if (isCommand && !isTyping && letter === 'z') state.undo()
    else if (key === 'Escape' && side.contains(document.activeElement)) closePanel()
    else if (key === 'Delete' && !isTyping && isLinkSelected()) remove(state.selected())
    else return false
    return true
  }

  function closePanel() {
    const selected = state.selected()
    state.select(undefined)
    if (selected !== undefined && 'node' in selected) drawing.focusNode(selected.node)
  }

  function isLinkSelected() {
    const selected = state.selected()
    return selected !== undefined && 'from' in selected
  }

  document.head.append(make('link', { rel: 'stylesheet', href: '/console/rule-chains/editor.css' }))
  document.body.classList.add('whole')
  main.replaceChildren(
    make('p', {}, make('a', { href: '/ruleChains' }, 'Rule chains')),
    make('h1', {}, chain.name, ...(chain.root ? [' ', make('strong', { class: 'mark' }, 'root')] : []), ' ', unsaved),
    bar,
    told,
    findings.element,
    make('div', { class: 'editor' }, drawing.element, side),
  )
  choose()
  draw()
}

function nothingChosen() {
  return make(
    'p',
    {},
    'Choose a node or a connection to see it here. Drag the dot at the right of a node to another one to connect them.',
  )
}

/** A button that has the focus keeps it: it is not taken out of the page's order. @param {HTMLButtonElement} button @param {boolean} isOn */
function enable(button, isOn) {
  button.setAttribute('aria-disabled', String(!isOn))
}

/** @param {{ data: readonly { name: string }[] }} queues */
function queueNames({ data }) {
  return data.map(({ name }) => name)
}
