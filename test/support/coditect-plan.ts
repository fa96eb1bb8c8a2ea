/** The plan of Coditect 3.7, to the letter. */
export const CODITECT_PLAN = `# Project Plan Example
project: ecommerce-rebuild
tracks:
  A:
    - id: A-001-core-framework
      description: "Initialize core application framework"
      depends_on: []
    - id: A-002-di-container
      description: "Setup dependency injection container"
      depends_on: [A-001-core-framework]
    - id: A-003-event-bus
      description: "Implement event bus for async communication"
      depends_on: [A-002-di-container]
  B:
    - id: B-001-schema-design
      description: "Design database schema"
      depends_on: []
    - id: B-002-entity-models
      description: "Create entity models from schema"
      depends_on: [B-001-schema-design, A-001-core-framework] # Cross-track!
    - id: B-003-repositories
      description: "Implement repository pattern"
      depends_on: [B-002-entity-models, A-002-di-container] # Cross-track!
`
