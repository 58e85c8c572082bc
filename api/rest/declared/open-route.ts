/** Makes calls of declarations that are for everybody: read and checked like those of users, but for rights. */
import { isMillraceError } from '../../../model/errors.ts'
import { answerOf, requireTargets } from './declare.ts'
import type { QuerySchema } from './query.ts'
import { readCall, wordsOf, type ReadParts } from './read-call.ts'
import type { DeclaredOpenRoute, OpenCall, OpenDeclaration, RawOpenCall, WordsOf } from './route.ts'

/** Throws for a path with an id. */
export function openRoute<
  const Path extends string,
  Query extends QuerySchema,
  Body,
  const Words extends WordsOf<Path> = WordsOf<Path>,
>(declaration: OpenDeclaration<Path, Query, Body, Words>): DeclaredOpenRoute {
  const { handle, words, bodyFault: _fault, ...facts } = declaration
  requireTargets(declaration.path, {})
  return {
    ...facts,
    words: wordsOf(words),
    authorities: 'public',
    targets: {},
    run: async (raw) => {
      const { clientAddress, credentials, path, header } = raw
      const call = { clientAddress, credentials, path, header, ...read(declaration, raw) }
      return answerOf(await handle(call as OpenCall<Path, Query, Body, Words>), raw.query)
    },
  }
}

function read<Path extends string, Query extends QuerySchema, Body, Words extends WordsOf<Path>>(
  declaration: OpenDeclaration<Path, Query, Body, Words>,
  raw: RawOpenCall,
): ReadParts<Query, Body> {
  const { bodyFault } = declaration
  try {
    return readCall(declaration, raw.path, raw)
  } catch (error) {
    if (bodyFault !== undefined && isMillraceError(error)) throw bodyFault(error)
    throw error
  }
}
