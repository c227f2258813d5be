package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"portcullis.dev/portcullis"
)

// Number of units to suggest for an unknown one.
const proposals = 3

// find returns the unit with a symbol or a name. A symbol is case-sensitive, because MB is not Mb. A name may be in any
// case and in the plural.
func find(word string) (unit, error) {
	word = strings.TrimSpace(word)
	if unit, found := match(func(unit unit) bool { return slices.Contains(unit.words(), word) }); found {
		return unit, nil
	}
	for _, name := range []string{word, strings.TrimSuffix(strings.ToLower(word), "s")} {
		isName := func(known string) bool { return strings.EqualFold(known, name) }
		if unit, found := match(func(unit unit) bool { return slices.ContainsFunc(unit.names, isName) }); found {
			return unit, nil
		}
	}
	return unit{}, portcullis.InvalidArguments(fmt.Sprintf(
		"there is no unit %q; similar units are %s; call the tool list to see all", word, strings.Join(near(word), ", "),
	))
}

func match(is func(unit) bool) (unit, bool) {
	index := slices.IndexFunc(units, is)
	if index < 0 {
		return unit{}, false
	}
	return units[index], true
}

// near returns the names of the units that are most similar to a word, ignoring case.
func near(word string) []string {
	type candidate struct {
		word  string
		steps int
	}
	var candidates []candidate
	for _, unit := range units {
		best := slices.MinFunc(unit.words(), func(one, other string) int {
			return cmp.Compare(distance(word, one), distance(word, other))
		})
		candidates = append(candidates, candidate{best, distance(word, best)})
	}
	slices.SortStableFunc(candidates, func(one, other candidate) int { return cmp.Compare(one.steps, other.steps) })
	var words []string
	for _, candidate := range candidates[:proposals] {
		words = append(words, candidate.word)
	}
	return words
}

// distance is the Levenshtein distance: the number of inserted, deleted or replaced letters.
func distance(from, to string) int {
	source, target := []rune(strings.ToLower(from)), []rune(strings.ToLower(to))
	row := make([]int, len(target)+1)
	for column := range row {
		row[column] = column
	}
	for line, letter := range source {
		diagonal := row[0]
		row[0] = line + 1
		for column, other := range target {
			change := diagonal
			if letter != other {
				change++
			}
			diagonal = row[column+1]
			row[column+1] = min(change, row[column]+1, row[column+1]+1)
		}
	}
	return row[len(target)]
}
