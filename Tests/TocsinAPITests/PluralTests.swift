import Testing
import TocsinAPI
import TocsinCore

@Suite("Plurals of models")
struct PluralTests {
    @Test(
        "are those of Amplify",
        arguments: [
            ("Note", "Notes"), ("Category", "Categories"), ("Person", "People"), ("Data", "Data"), ("Bus", "Buses"),
            ("Boy", "Boys"), ("Box", "Boxes"), ("Match", "Matches"), ("Wish", "Wishes"), ("Class", "Classes"),
            ("Quiz", "Quizzes"), ("Child", "Children"), ("Man", "Men"), ("Mouse", "Mice"), ("Foot", "Feet"),
            ("Leaf", "Leaves"), ("Wife", "Wives"), ("Hero", "Heroes"), ("Photo", "Photos"), ("Echo", "Echoes"),
            ("Index", "Indices"), ("Matrix", "Matrices"), ("Analysis", "Analyses"), ("Status", "Statuses"),
            ("Alias", "Aliases"), ("Stimulus", "Stimuli"), ("Criterion", "Criteria"), ("Medium", "Mediums"),
            ("Series", "Series"), ("Sheep", "Sheep"), ("News", "News"), ("Staff", "Staff"), ("Fish", "Fish"),
            ("Address", "Addresses"), ("Key", "Keys"), ("Day", "Days"), ("Enquiry", "Enquiries"), ("Human", "Humans"),
            ("Proof", "Proofs"), ("Roof", "Roofs"), ("API", "APIS"), ("BlogPost", "BlogPosts"),
            ("UserAddress", "UserAddresses"), ("Schema", "Schemata"), ("Canvas", "Canvases"),
            ("Equipment", "Equipment"),
        ]
    )
    func plurals(singular: String, plural: String) throws {
        let schema = try APISchema(
            modelText: """
                type Topic @model @auth(rules: [{ allow: owner }]) { id: ID! name: String! }
                type Message @model @auth(rules: [{ allow: owner }]) { id: ID! topicId: ID! createdAt: AWSDateTime! }
                type \(singular) @model @auth(rules: [{ allow: owner }]) { id: ID! }
                """
        )
        let model = try #require(schema.models.first { $0.name == singular })
        #expect(model.plural == plural)
    }
}
