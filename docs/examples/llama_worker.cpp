// llama.cpp's chat parsers, as a worker of docs/engine-protocol.md: one for each chat template in the folder it is given.
// Built from a source tree of llama.cpp without ggml and without a model; what its chat server does after each token
// (`task_result_state::update_chat_msg`) is done here. Build and enter it:
//   cd llama.cpp && c++ -std=c++17 -O1 -w -ffunction-sections -fdata-sections -Icommon -Iinclude -Iggml/include -Ivendor \
//     llama_worker.cpp common/{chat*,json*,common,log,peg-parser,trie,unicode}.cpp common/{jinja,parsers}/*.cpp \
//     -o llama_worker -Wl,--gc-sections -lpthread
//   toolcall-inspector engines add llamacpp --command './llama_worker models/templates'
#include "chat.h"

#include <filesystem>
#include <fstream>
#include <iostream>

using json = common_json;

#ifndef LLAMA_VERSION
#define LLAMA_VERSION "source"
#endif

// What asks for a model is linked and never reached: a template that is given as text needs none.
extern "C" {
void ggml_abort(const char *, int, const char *, ...) { std::abort(); }
int32_t llama_chat_apply_template(const char *, const llama_chat_message *, size_t, bool, char *, int32_t) { return -1; }
const char * llama_model_chat_template(const llama_model *, const char *) { return nullptr; }
const llama_vocab * llama_model_get_vocab(const llama_model *) { return nullptr; }
int32_t llama_token_to_piece(const llama_vocab *, llama_token, char *, int32_t, int32_t, bool) { return 0; }
llama_token llama_vocab_bos(const llama_vocab *) { return -1; }
llama_token llama_vocab_eos(const llama_vocab *) { return -1; }
bool llama_vocab_get_add_bos(const llama_vocab *) { return false; }
bool llama_vocab_get_add_eos(const llama_vocab *) { return false; }
}

static std::map<std::string, std::string> templates;  // text by name

static void say(const json & message) { std::cout << message.dump_safe() << std::endl; }

static json hello() {
    json parsers = json::array();
    for (const auto & one : templates) {
        parsers.push_back({ { "name", one.first }, { "kind", "tool" } });
    }
    json server = { { "holds_text", "stop_strings" }, { "many_tokens", "never" }, { "empty_deltas", "unknown" } };
    return { { "protocol", 1 }, { "name", "llama.cpp" }, { "version", LLAMA_VERSION }, { "parsers", parsers },
             { "wants", "text" }, { "whole", true }, { "contract", "openai" }, { "server", server } };
}

// What the server renders the request to: the format, and the parser that its template gives.
static common_chat_parser_params params_of(const json & run) {
    const auto found = templates.find(run.at("parser").get<std::string>());
    if (found == templates.end()) {
        throw std::runtime_error("there is no such parser");
    }
    const auto made = common_chat_templates_init(nullptr, found->second);
    common_chat_templates_inputs inputs;
    common_chat_msg user;
    user.role    = "user";
    user.content = "Hi";
    inputs.messages              = { user };
    inputs.parallel_tool_calls   = true;
    inputs.reasoning_format      = COMMON_REASONING_FORMAT_DEEPSEEK;
    const json request           = run.value("request", json::object());
    if (request.contains("tools") && request.at("tools").size() > 0) {
        inputs.tools = common_chat_tools_parse_oaicompat(request.at("tools"));
    }
    const auto applied = common_chat_templates_apply(made.get(), inputs);
    common_chat_parser_params params(applied);
    params.reasoning_format = inputs.reasoning_format;
    if (!applied.parser.empty()) {
        params.parser.load(applied.parser);
    }
    return params;
}

static json delta(const std::vector<common_chat_msg_diff> & diffs) {
    std::string reasoning, content;
    json calls = json::array();
    for (const auto & one : diffs) {
        reasoning += one.reasoning_content_delta;
        content += one.content_delta;
        if (one.tool_call_index == std::string::npos) {
            continue;
        }
        const auto & call = one.tool_call_delta;
        json function = { { "arguments", call.arguments } };
        if (!call.name.empty()) {
            function["name"] = call.name;
        }
        calls.push_back({ { "index", (int64_t) one.tool_call_index }, { "function", function } });
    }
    if (reasoning.empty() && content.empty() && calls.empty()) {
        return nullptr;
    }
    return { { "reasoning", reasoning }, { "content", content }, { "tool_calls", calls } };
}

static json replayed(const common_chat_parser_params & params, const json & deltas, bool whole, bool report) {
    json sent = json::array(), raised = nullptr;
    std::string text;
    common_chat_msg before;
    size_t step = 0;
    const size_t steps = deltas.size() + 1;
    for (; step < steps; step++) {
        const bool last = step + 1 == steps;
        text += last ? std::string() : deltas.at(step).at((size_t) 0).get<std::string>();
        if (whole && !last) {
            continue;
        }
        if (report) {
            say({ { "progress", { { "step", (int64_t) step + 1 }, { "sent", sent.empty() ? json(nullptr) : sent.back() } } } });
        }
        try {
            const auto now = common_chat_parse(text, !last, params);
            if (now.empty()) {
                sent.push_back(json(nullptr));
                continue;
            }
            sent.push_back(delta(common_chat_msg_diff::compute_diffs(before, now)));
            before = now;
        } catch (const std::exception & error) {
            raised = { { "step", whole ? (int64_t) 1 : (int64_t) step + 1 }, { "kind", "exception" },
                       { "message", std::string(error.what()).substr(0, 1000) } };
            break;
        }
    }
    return { { "sent", sent }, { "raised", raised } };
}

static json run(const json & asked) {
    const auto params = params_of(asked);
    const bool whole = asked.value("path", "") == "whole", report = asked.value("report", "") == "steps";
    json replays = json::array();
    for (const auto & deltas : asked.at("replays")) {
        replays.push_back(replayed(params, deltas, whole, report));
    }
    return { { "replays", replays } };
}

int main(int argc, char ** argv) {
    for (const auto & file : std::filesystem::directory_iterator(argc > 1 ? argv[1] : "models/templates")) {
        if (file.path().extension() == ".jinja") {
            std::ifstream stream(file.path());
            templates[file.path().stem().string()] = { std::istreambuf_iterator<char>(stream), {} };
        }
    }
    for (std::string line; std::getline(std::cin, line);) {
        try {
            const json asked = json::parse(line);
            say({ { "answer", asked.contains("run") ? run(asked.at("run")) : hello() } });
        } catch (const std::exception & error) {
            say({ { "failed", std::string(error.what()).substr(0, 1000) } });
        }
    }
}
