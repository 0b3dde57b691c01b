/// The GraphQL documents the client sends.
enum Documents {
    static let topicByName = """
        query TopicByName($name: String!) { getTopicByName(name: $name) { items { id _deleted } } }
        """

    static let topicByID = "query TopicByID($id: ID!) { getTopic(id: $id) { id _deleted } }"

    static let createTopic = "mutation CreateTopic($input: CreateTopicInput!) { createTopic(input: $input) { id } }"

    static let createMessage = """
        mutation Publish($input: CreateMessageInput!) {
          createMessage(input: $input) { id number cursor topicId createdAt }
        }
        """

    static let registerPushToken = """
        mutation RegisterPushToken(
          $token: String!, $platform: String!, $environment: String, $appId: String, $deviceId: ID, $name: String
        ) {
          registerPushToken(
            token: $token, platform: $platform, environment: $environment, appId: $appId, deviceId: $deviceId, name: $name
          ) { userId pushTokens device { id platform } }
        }
        """

    static let unregisterPushToken = """
        mutation UnregisterPushToken($token: String!) { unregisterPushToken(token: $token) { userId pushTokens } }
        """

    private static let messageFields =
        "id number cursor type title body createdAt priority url data category topicId"

    static let follow = """
        subscription Follow($topicId: ID!, $after: String) {
          onCreateMessage(topicId: $topicId, after: $after) { \(messageFields) }
        }
        """

    /// The listing goes by `createdAt`, which publishers may set; the highest `number` of a few is what counts.
    static let newestMessages = """
        query Newest($topicId: ID!) {
          getMessageByTopicIdAndCreatedAt(topicId: $topicId, sortDirection: DESC, limit: 20) { items { number cursor } }
        }
        """

    static let allMessages = """
        query All($topicId: ID!, $nextToken: String) {
          getMessageByTopicIdAndCreatedAt(topicId: $topicId, sortDirection: ASC, limit: 100, nextToken: $nextToken) {
            items { \(messageFields) }
            nextToken
          }
        }
        """
}
