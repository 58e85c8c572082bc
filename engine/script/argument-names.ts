/** Other names for a script's arguments: those of a generator are `prevMsg`, `prevMetadata`, `prevMsgType`. Source: `rule-engine.md` 6.1. */

const ARGUMENTS = ['msg', 'metadata', 'msgType'] as const

export const GENERATOR_ARGUMENTS = ['prevMsg', 'prevMetadata', 'prevMsgType'] as const

/** The body with its arguments under these names too; its lines stay what they are. A blank body stays blank. */
export function withArgumentNames(body: string, names: readonly string[]): string {
  if (body.trim() === '') return body
  const declared = names
    .map((name, index) => (name === ARGUMENTS[index] ? '' : `var ${name} = ${ARGUMENTS[index] ?? 'null'}; `))
    .join('')
  return declared + body
}
