/** A reason without the code before it, which is for programs: "invalid_working_directory: The folder …". Pure. */
export const reasonText = (reason: string): string => reason.replace(/^[a-z]+(?:_[a-z]+)+: /, '')
