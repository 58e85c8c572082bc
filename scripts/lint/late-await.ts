/** The lint rule `late-await`: see {@link findLateAwaits}. */
import type { Rule } from 'eslint'
import type ts from 'typescript'
import { findLateAwaits } from './late-awaits.ts'

export const lateAwait: Rule.RuleModule = {
  meta: {
    type: 'problem',
    messages: {
      late: '{{name}} may reject before anybody waits for it, which ends the process: await it first, or begin it through awaitedLater.',
    },
    schema: [],
  },
  create: (context) => ({
    Program: (): void => {
      const { program } = context.sourceCode.parserServices as { readonly program: ts.Program }
      const source = program.getSourceFile(context.filename)
      if (source === undefined) throw new Error(`${context.filename} is in no project: late-await needs its types`)
      for (const { position, name } of findLateAwaits(source, program.getTypeChecker()))
        context.report({ loc: context.sourceCode.getLocFromIndex(position), messageId: 'late', data: { name } })
    },
  }),
}
