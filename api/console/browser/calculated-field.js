/** One calculated field or alarm rule, made or changed: its form, all of it as JSON, a trial, and what it did. */
import { dangerous } from './dialog.js'
import { field, form, make, tell, textArea } from './dom.js'
import { editorOf } from './calculated-fields/editor.js'
import { fieldEvents } from './calculated-fields/events.js'
import { forget, pointOut } from './calculated-fields/misfit.js'
import { TYPES, newConfiguration, typeText } from './calculated-fields/field-shapes.js'
import { fieldTrial } from './calculated-fields/trial.js'
import { ownerLink } from './owner.js'
import { parsedObject } from './parsed-object.js'
import { call } from './session.js'

/** @typedef {Record<string, any>} Json */

const NEW = 'new'

/** @param {import('./pages.js').Place} place */
export async function calculatedFieldPage({ main, id, query }) {
  const path = `/api/calculatedField/${encodeURIComponent(id)}`
  const isNew = id === NEW
  /** @type {Json} */
  let present = isNew ? draftOf(query) : await call('GET', path)
  const heading = make('h1', {}, titleOf(present))
  const forms = make('div')
  const about = TYPES.find(([type]) => type === present['type'])?.[2] ?? ''
  await fill()
  main.replaceChildren(
    make('p', {}, make('a', { href: '/calculatedFields' }, 'Calculated fields')),
    heading,
    make('p', {}, await ownerLink(present['entityId']), ` · ${typeText(present['type'])}. ${about}`),
    forms,
    ...(isNew
      ? []
      : [make('h2', {}, 'What it did'), await fieldEvents(present, save), make('h2', {}, 'Delete'), remover()]),
  )
  /** After each save anew: the form and the JSON say the same. @returns {Promise<void>} */
  async function fill() {
    heading.textContent = titleOf(present)
    const name = field(present['type'] === 'ALARM' ? 'Alarm' : 'Name', {
      name: 'name',
      required: true,
      autocomplete: 'off',
    })
    name.input.value = present['name']
    const editor = await editorOf(present['configuration'], present['entityId'])
    const json = textArea('All of it, as JSON', 'configuration', JSON.stringify(present['configuration'], null, 2))
    const named = (/** @type {Json} */ configuration) => ({ name: name.input.value.trim(), configuration })
    const whole = (/** @type {readonly Node[]} */ rows) =>
      form('Save', rows, async () => {
        await saved(named(parsedObject(json.input.value)))
      })
    if (editor === undefined) return forms.replaceChildren(whole([name.row, json.row]))
    const saving = form('Save', [name.row, ...editor.rows], async () => {
      forget(saving)
      try {
        await saved(named(await editor.configuration()))
      } catch (error) {
        pointOut(saving, error)
        throw error
      }
    })
    const trial = editor.trial === undefined ? [] : [fieldTrial(editor.trial)]
    const asJson = make('details', {}, make('summary', {}, 'The same as JSON'), whole([json.row]))
    forms.replaceChildren(saving, ...trial, asJson)
  }

  /** @param {Json} change @returns {Promise<void>} */
  async function saved(change) {
    await save(change)
    await fill()
    const told = forms.querySelector('form > [role=status]')
    if (told instanceof HTMLElement) tell(told, 'Saved: it counts from the next value on.')
    const button = forms.querySelector('form > button')
    if (button instanceof HTMLElement) button.focus()
  }

  /** @param {Json} change */
  async function save(change) {
    present = await call('POST', '/api/calculatedField', { ...present, ...change })
    if (!isNew) return
    location.replace(`/calculatedFields/${present['id'].id}`)
    // Nothing is saved twice while the browser leaves.
    await new Promise(() => undefined)
  }

  function remover() {
    const act = async () => {
      await call('DELETE', path)
      location.assign('/calculatedFields')
    }
    return dangerous('Delete it', () => `Delete "${present['name']}" for ever`, act, {
      text: 'Values and alarms that it made stay; no more come.',
    })
  }
}

/** What the page before asked for. @param {URLSearchParams} query @returns {Json} */
function draftOf(query) {
  const type = TYPES.find(([each]) => each === query.get('type'))?.[0] ?? 'SIMPLE'
  return {
    entityId: { entityType: query.get('entityType') ?? '', id: query.get('id') ?? '' },
    type,
    name: query.get('name') ?? '',
    configuration: newConfiguration(type),
  }
}

/** @param {Json} record */
function titleOf({ name, type }) {
  return name === '' ? `New: ${typeText(type)}` : name
}
