import { EDITOR_WORDS, editorLink, useEditor } from './editor-link.ts'
import type { TaskRun } from './use-task.ts'

/** Opens the folder of a run in an editor, while the folder is there and the page is on its machine. */
export function OpenFolder({ folder }: { folder: TaskRun['folder'] }) {
  const editor = useEditor()
  if (!folder || folder.cleaned?.isRemoved) return null
  const link = editorLink(editor, location.hostname, folder.path)
  if (link === null) return null
  return (
    <a className="touchable text-accent hover:underline" href={link} title={folder.path}>
      Open in {EDITOR_WORDS[editor]}
    </a>
  )
}
