/** One integration: how it does, its settings, and its converter, which can be tried before it is saved. */
import { dangerous } from './dialog.js'
import { choice, copyable, field, form, make, messageOf, shortened, tell, textArea, timeText } from './dom.js'
import { sampleOf } from './integration-shapes.js'
import { stateText } from './integrations.js'
import { pagedList } from './paged.js'
import { parsedObject } from './parsed-object.js'
import { polling } from './polling.js'
import { call } from './session.js'

/** @typedef {Record<string, any>} Json */

const FIGURES_MS = 3_000
const LANGUAGES = /** @type {readonly (readonly [string, string])[]} */ ([
  ['TBEL', 'TBEL'],
  ['JS', 'JavaScript'],
])
const FORMATS = /** @type {readonly (readonly [string, string])[]} */ ([
  ['JSON', 'JSON'],
  ['TEXT', 'text'],
  ['BINARY', 'bytes'],
])

/** @param {import('./pages.js').Place} place */
export async function integrationPage({ main, id }) {
  const path = `/api/integration/${encodeURIComponent(id)}`
  /** @type {Json} */
  let present = await call('GET', path)
  const heading = make('h1', {}, present['name'])
  const errors = errorList(present)
  const remove = dangerous(
    'Delete the integration',
    () => `Delete "${present['name']}" for ever`,
    async () => {
      await call('DELETE', path)
      location.assign('/integrations')
    },
  )
  const onSaved = () => {
    heading.textContent = present['name']
    setTimeout(() => void errors.show(), FIGURES_MS)
  }
  main.replaceChildren(
    make('p', {}, make('a', { href: '/integrations' }, 'Integrations')),
    heading,
    figures(path, () => present),
    ...(present['type'] === 'HTTP' ? [await webhook(path)] : []),
    make('h2', {}, 'Settings'),
    settings(present, save),
    make('h2', {}, 'Converter'),
    converter(present, save),
    make('h2', {}, 'What went wrong'),
    errors.element,
    make('h2', {}, 'Delete'),
    remove,
  )
  await errors.show()

  /** @param {Json} change */
  async function save(change) {
    present = await call('POST', '/api/integration', { ...present, ...change })
    onSaved()
  }
}

/** As they come, while somebody looks. @param {string} path @param {() => Json} integration */
function figures(path, integration) {
  const told = make('p', { role: 'status' })
  const bar = make('progress', { hidden: true, 'aria-label': 'Of the file' })
  const error = make('p', { class: 'wrong' })
  const read = async () => {
    try {
      const { state, received, stored, failed, delayed, lastError, lastErrorTs, progress } = await call(
        'GET',
        `${path}/statistics`,
      )
      const parts = [
        stateText(integration(), state),
        `${received.toLocaleString()} received`,
        `${stored.toLocaleString()} stored`,
        `${failed.toLocaleString()} failed`,
        ...(delayed > 0 ? [`${delayed.toLocaleString()} put off`] : []),
        ...(progress?.file === undefined
          ? []
          : [`at ${progress.bytesDone} of ${progress.bytesTotal} bytes of ${progress.file}`]),
      ]
      bar.hidden = progress?.file === undefined
      bar.max = progress?.bytesTotal || 1
      bar.value = progress?.bytesDone ?? 0
      const words = parts.join(' · ')
      // Read out only where it changed.
      if (told.textContent !== words) tell(told, words)
      error.textContent = lastError === null ? '' : `Last error, ${timeText(lastErrorTs)}: ${shortened(lastError)}`
    } catch (reason) {
      tell(told, messageOf(reason), true)
    }
  }
  void read()
  polling(FIGURES_MS, read)
  return make('div', {}, told, bar, error)
}

/** @param {string} path */
async function webhook(path) {
  const answer = await call('GET', `${path}/webhook`)
  const command = `curl -X POST ${location.origin}${answer.path} -H 'Content-Type: application/json' -d '${sampleOf('HTTP')}'`
  return make(
    'div',
    {},
    make('p', {}, 'Others send here; whoever knows the address may:'),
    copyable(command, 'the command'),
  )
}

/** @param {Json} integration @param {(change: Json) => Promise<void>} save */
function settings(integration, save) {
  const name = field('Name', { name: 'name', required: true, autocomplete: 'off' })
  name.input.value = integration['name']
  const enabled = make('input', { type: 'checkbox', name: 'enabled', checked: integration['enabled'] === true })
  const creates = make('input', {
    type: 'checkbox',
    name: 'creates',
    checked: integration['allowCreateDevices'] === true,
  })
  const data = textArea(
    `Settings of ${integration['type']}, as JSON`,
    'configuration',
    JSON.stringify(integration['configuration'], null, 2),
  )
  const rows = [
    name.row,
    make('label', { class: 'tick' }, enabled, 'It collects'),
    make('label', { class: 'tick' }, creates, 'Devices that are not there are made'),
    data.row,
  ]
  return form('Save the settings', rows, async () => {
    await save({
      name: name.input.value.trim(),
      enabled: enabled.checked,
      allowCreateDevices: creates.checked,
      configuration: parsedObject(data.input.value),
    })
    return enabled.checked ? 'Saved: it begins anew.' : 'Saved: it stands still.'
  })
}

/** @param {Json} integration @param {(change: Json) => Promise<void>} save */
function converter(integration, save) {
  const present = integration['converter'] ?? {}
  const language = choice('Language', 'language', LANGUAGES, present.language ?? 'TBEL')
  const format = choice('The payload is', 'payloadFormat', FORMATS, present.payloadFormat ?? 'JSON')
  const script = textArea('Script: a function of payload and metadata', 'script', present.script ?? '')
  const asked = () => ({
    language: language.input.value,
    payloadFormat: format.input.value,
    script: script.input.value,
  })
  const rows = [make('div', { class: 'choice' }, language.row, format.row), script.row]
  const saving = form('Save the converter', rows, async () => {
    await save({ converter: asked() })
    return 'Saved: it counts from the next payload on.'
  })
  const payload = textArea('Payload (Base64 where it is bytes)', 'payload', sampleOf(integration['type']), {
    class: 'short',
  })
  const metadata = textArea('Metadata, as JSON', 'metadata', '{}', { class: 'short' })
  const result = make('div', { role: 'status' })
  const trying = form('Try it', [payload.row, metadata.row], async () => {
    result.replaceChildren()
    const { output, error } = await call('POST', '/api/integration/check', {
      converter: asked(),
      payload: payload.input.value,
      metadata: parsedObject(metadata.input.value),
    })
    if (error !== '') throw new Error(error)
    const text = output.length === 0 ? 'It makes nothing of this payload.' : 'It makes this, and nothing is stored:'
    result.replaceChildren(
      make('p', {}, text),
      ...(output.length === 0 ? [] : [make('pre', {}, JSON.stringify(output, null, 2))]),
    )
  })
  return make(
    'div',
    {},
    saving,
    make('details', { open: true }, make('summary', {}, 'Try it on a sample'), trying, result),
  )
}

/** The newest first. @param {Json} integration */
function errorList({ id, tenantId }) {
  return pagedList({
    caption: 'Errors',
    heads: ['When', 'What'],
    cells: (/** @type {Json} */ { createdTime, body }) => [timeText(createdTime), shortened(body.error ?? '')],
    path: `/api/events/INTEGRATION/${id.id}/ERROR`,
    asked: () => ({ tenantId: tenantId.id, sortProperty: 'createdTime', sortOrder: 'DESC' }),
  })
}
