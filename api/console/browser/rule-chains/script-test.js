/** A script tried out on a message, before it is saved. */
import { dialog } from '../dialog.js'
import { field, make, messageOf, tell } from '../dom.js'
import { call } from '../session.js'
import { readJson } from './fields.js'
import { lineOf, rangeOfLine } from './scripts.js'

const SAMPLE = {
  data: '{\n  "temperature": 22.4,\n  "humidity": 78\n}',
  metadata: '{\n  "deviceType": "default",\n  "deviceName": "Test device"\n}',
  msgType: 'POST_TELEMETRY_REQUEST',
}
const TYPES = [
  'POST_TELEMETRY_REQUEST',
  'POST_ATTRIBUTES_REQUEST',
  'ATTRIBUTES_UPDATED',
  'ALARM',
  'ACTIVITY_EVENT',
  'INACTIVITY_EVENT',
  'CONNECT_EVENT',
  'DISCONNECT_EVENT',
  'ENTITY_CREATED',
  'TO_SERVER_RPC_REQUEST',
  'RPC_CALL_FROM_SERVER_TO_DEVICE',
]

/**
 * @param {object} parts
 * @param {string} parts.name of the node
 * @param {string | undefined} parts.nodeId of a node that is saved: its last message is offered
 * @param {import('./scripts.js').ScriptKind} parts.kind
 * @param {'TBEL' | 'JS'} parts.language
 * @param {string} parts.script
 * @param {(script: string) => void} parts.take what was made of it
 */
export async function testScript({ name, nodeId, kind, language, script, take }) {
  const sample = await lastMessage(nodeId)
  const source = area('Script', script, 9)
  const message = area(kind.argNames[0] ?? 'msg', sample.data, 6)
  const metadata = area(kind.argNames[1] ?? 'metadata', sample.metadata, 6)
  const type = field(kind.argNames[2] ?? 'msgType', { list: 'message-types', autocomplete: 'off', required: true })
  type.input.value = sample.msgType
  const output = make('pre', { class: 'output', hidden: true })
  const told = make('p', { role: 'status' })
  const run = make('button', { type: 'submit' }, 'Run it')
  const form = make(
    'form',
    {},
    make('p', {}, `${language === 'TBEL' ? 'TBEL' : 'JavaScript'}; answers ${kind.answers}.`),
    source.row,
    make('div', { class: 'sides' }, message.row, metadata.row),
    type.row,
    make('datalist', { id: 'message-types' }, ...TYPES.map((value) => make('option', { value }))),
    told,
    output,
    make(
      'p',
      { class: 'acts' },
      run,
      make('button', { type: 'button', click: () => use() }, 'Use this script'),
      make('button', { type: 'button', click: () => close() }, 'Close'),
    ),
  )
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    run.disabled = true
    output.hidden = true
    tell(told, 'Running …')
    answer()
      .then(shown)
      .catch((error) => tell(told, messageOf(error), true))
      .finally(() => (run.disabled = false))
  })
  const { close } = dialog(`Test the script of "${name}"`, [form], 'large')
  source.input.focus()

  function use() {
    take(source.input.value)
    close()
  }

  /** @returns {Promise<{ output: string, error: string }>} */
  async function answer() {
    for (const { input, row } of [message, metadata]) {
      const { mistake } = readJson(input.value)
      if (mistake !== '') throw new Error(`${row.firstChild?.textContent ?? ''}: ${mistake}`)
    }
    return call('POST', `/api/ruleChain/testScript?scriptLang=${language}`, {
      ...{ script: source.input.value, scriptType: kind.type, argNames: kind.argNames },
      ...{ msg: message.input.value, metadata: readJson(metadata.input.value).value ?? {}, msgType: type.input.value },
    })
  }

  /** @param {{ output: string, error: string }} result */
  function shown({ output: made, error }) {
    if (error !== '') {
      tell(told, error, true)
      const line = lineOf(error)
      if (line === undefined) return
      source.input.focus()
      source.input.setSelectionRange(...rangeOfLine(source.input.value, line))
      return
    }
    tell(told, 'It answers:')
    output.textContent = indented(made)
    output.hidden = false
    output.scrollIntoView({ block: 'nearest' })
  }
}

/** @param {string | undefined} nodeId */
async function lastMessage(nodeId) {
  if (nodeId === undefined) return SAMPLE
  // A sample is as good, whatever keeps the server from telling.
  const last = await call('GET', `/api/ruleNode/${nodeId}/debugIn`).catch(() => undefined)
  if (typeof last?.data !== 'string') return SAMPLE
  return {
    data: indented(last.data),
    metadata: indented(last.metadata ?? '{}'),
    msgType: String(last.msgType ?? SAMPLE.msgType),
  }
}

/** @param {string} text JSON, or any other */
function indented(text) {
  const { value, mistake } = readJson(text)
  return mistake === '' && value !== null ? JSON.stringify(value, null, 2) : text
}

/** @param {string} label @param {string} text @param {number} rows */
function area(label, text, rows) {
  const input = make('textarea', { rows: String(rows), spellcheck: 'false', class: 'code', autocomplete: 'off' })
  input.value = text
  return { input, row: make('label', {}, label, input) }
}
