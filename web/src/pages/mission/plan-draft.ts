/** The name under which the edit of a mission's plan is kept until it is saved or discarded. */
export const planEditName = (missionId: string) => `plan-edit:${missionId}`
