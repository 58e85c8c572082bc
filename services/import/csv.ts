/** Comma-separated text as RFC 4180 has it, with any delimiter of one character. */
import { TransferErrors } from './errors.ts'

export interface CsvLine {
  /** Of the text, from 1: a quoted cell may go over several. */
  readonly number: number
  readonly cells: readonly string[]
  /** Nothing ends a quote of it: what stands behind that is one cell, up to the end of the text. */
  readonly isUnended?: true
}

/** All of them; `first`: the number of the first line. Throws `transfer.QUOTE`: which lines the quote has swallowed nobody can say. */
export function wholeLines(text: string, delimiter: string, first = 1): readonly CsvLine[] {
  const lines = [...csvLines(text, delimiter)].map((line) => ({ ...line, number: line.number + first - 1 }))
  const last = lines.at(-1)
  if (last?.isUnended === true) throw TransferErrors.QUOTE({ line: last.number })
  return lines
}

/** Lines without any text are left out. */
export function* csvLines(text: string, delimiter: string): Generator<CsvLine> {
  let place = text.startsWith('\uFEFF') ? 1 : 0
  let number = 1
  while (place < text.length) {
    const start = number
    const cells: string[] = []
    let isUnended = false
    for (;;) {
      const cell = cellAt(text, place, delimiter)
      cells.push(cell.text)
      isUnended = cell.isUnended === true
      number += cell.breaks
      place = cell.end
      if (text[place] !== delimiter) break
      place++
    }
    if (text[place] === '\r') place++
    if (text[place] === '\n') place++
    number++
    if (isUnended || cells.some((cell) => cell !== ''))
      yield { number: start, cells, ...(isUnended ? { isUnended } : {}) }
  }
}

interface Cell {
  readonly text: string
  /** The place after it: a delimiter, the end of a line or of the text. */
  readonly end: number
  readonly breaks: number
  readonly isUnended?: true
}

function cellAt(text: string, start: number, delimiter: string): Cell {
  if (text[start] !== '"') {
    const end = endOfPlain(text, start, delimiter)
    return { text: text.slice(start, end).trim(), end, breaks: 0 }
  }
  let value = ''
  let place = start + 1
  for (;;) {
    const quote = text.indexOf('"', place)
    if (quote < 0) {
      value += text.slice(place)
      return { text: value, end: text.length, breaks: breaksIn(value), isUnended: true }
    }
    value += text.slice(place, quote)
    place = quote + 1
    if (text[place] !== '"') return { text: value, end: endOfPlain(text, place, delimiter), breaks: breaksIn(value) }
    value += '"'
    place++
  }
}

function endOfPlain(text: string, start: number, delimiter: string): number {
  let end = start
  while (end < text.length && text[end] !== delimiter && text[end] !== '\n' && text[end] !== '\r') end++
  return end
}

function breaksIn(text: string): number {
  return text.split('\n').length - 1
}
