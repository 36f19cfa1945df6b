# The inspector's command line: a process, and so a connection, for every request. Sourced by run.sh.

# inspector PROGRAM (stdio ICM STORE | http URL): everything that its command line can ask for.
inspector() {
    program=$1 over=$2
    shift 2
    case $over in
        stdio) server_command="$1" store=$2 ;;
        http) address=$1 ;;
    esac
    inspect --method tools/list --strict
    tools=$(grep -c '"inputSchema"' "$work/reply.json")
    inspect_tool icm_memory_store --tool-arg topic=db 'content=the pool holds 20 connections' importance=high
    id=$(sed -n 's/.*"id": *"\([0-9A-Z]\{26\}\)".*/\1/p' "$work/reply.json" | head -n 1)
    [ -n "$id" ] || failed "inspector: no id in the receipt" "$work/reply.json"
    inspect_tool icm_memory_recall --tool-arg query=pool limit=5
    grep -q "$id" "$work/reply.json" || failed "inspector: $id was not recalled" "$work/reply.json"
    inspect_tool icm_memory_update --tool-arg "id=$id" 'content=the pool holds 30 connections'
    inspect_tool icm_log --tool-arg "id=$id"
    inspect_tool icm_log --tool-arg kind=memory limit=2
    inspect_tool icm_diff --tool-arg from=@3 topic=db
    inspect_tool icm_memory_list_topics
    inspect_tool icm_memory_stats
    inspect --method resources/read --uri "icm://memory/$id"
    grep -q '30 connections' "$work/reply.json" || failed "inspector: the resource" "$work/reply.json"
    inspect --method prompts/get --prompt-name recap --prompt-args topic=db
    grep -q '30 connections' "$work/reply.json" || failed "inspector: the prompt" "$work/reply.json"
    inspect_tool icm_memory_forget --tool-arg "id=$id"
    inspect_tool icm_undo --tool-arg last=1
    inspect_tool icm_memory_store --tool-arg topic=db 'content=another fact'
    inspect_tool icm_memory_store --tool-arg topic=db 'content=the replicas lag by a second'
    inspect_tool icm_memory_consolidate --tool-arg topic=db 'summary=the pool'
    if try_inspect --method tools/call --tool-name no_such_tool; then
        failed "inspector: a tool that there is not" "$work/reply.json"
    fi
    grep -q 'no_such_tool' "$work/reply.json" "$work/reply.log" ||
        failed "inspector: an error that does not name the tool" "$work/reply.json" "$work/reply.log"
    echo "inspector, $over: $tools tools listed without a complaint, 13 calls, a resource, a prompt"
}

try_inspect() {
    case $over in
        stdio) set -- "$server_command" --db "$store" serve --toolsets all --structured "$@" ;;
        http) set -- "$address" --transport http --header "Authorization: Bearer $token" "$@" ;;
    esac
    "$program" --cli "$@" >"$work/reply.json" 2>"$work/reply.log"
}

inspect() {
    try_inspect "$@" || failed "inspector, $over: $*" "$work/reply.json" "$work/reply.log"
}

# A tool by its name and arguments; the reply must not be an error.
inspect_tool() {
    inspect --method tools/call --tool-name "$@"
    ! grep -q '"isError": *true' "$work/reply.json" || failed "inspector, $over: $1" "$work/reply.json"
}
